// Opening the bench: references, lint, baseline, canaries. A case that fails here is refused before a
// candidate is built.
#include <fmt/format.h>

#include "bench/cpu_bench.h"
#include "bench/lint.h"
#include "bench/load.h"
#include "bench/pinning.h"

namespace tunesmith::bench {

Status CpuBench::open_canaries(const Built& wrong, const Built& slow, Session& baseline) {
  const auto broken = [&](const std::string& what) {
    return fail(ErrorCode::infra, "the canary says that this bench would not notice: " + what,
                "run `tunesmith selftest`; do not trust a figure from this machine until it passes");
  };
  for (const Built* built : {&wrong, &slow}) {
    if (built->evidence.outcome != BuildEvidence::Outcome::ok)
      return broken("a mutant of the baseline does not build: " + built->evidence.detail);
  }
  if (m_defences.check_results && m_defences.check_every_element) {
    Started mutant = start(*m_pool, {{wrong.library, wrong.glue}, true});
    if (!mutant) return broken("the wrong mutant does not start: " + mutant.error().detail);
    std::vector<ShapeEvidence> shapes = blank_shapes(*m_pool);
    if (!check_all(*m_pool, **mutant, shapes)) return broken("a mutant with one wrong element passes");
  }
  Started mutant = start(*m_pool, {{slow.library, slow.glue}, true});
  if (!mutant) return broken("the slow mutant does not start: " + mutant.error().detail);
  HeatOptions options;
  options.check = false;
  options.maximum_pairs = 40;
  const Heat heat = race(*m_pool, **mutant, baseline, options);
  if (heat.rejection) return broken("the slow mutant fails: " + heat.rejection->detail);
  if (heat.comparison != Comparison::slower)
    return broken("a mutant that does its work twice does not show as slower");
  return {};
}

Result<CpuBench::BaselineBuilds> CpuBench::build_baseline() {
  TS_ASSIGN(BuildJob plain, baseline_job());
  BuildJob wrong = plain, slow = plain;
  wrong.glue = GlueKind::wrong;
  slow.glue = GlueKind::slow;
  wrong.trusted = slow.trusted = true;
  std::vector<Built> built = m_builder.build_all({plain, wrong, slow}, m_options.build_jobs);
  return BaselineBuilds{std::move(built[0]), std::move(built[1]), std::move(built[2])};
}

Result<Opening> CpuBench::open() {
  Opening opening;
  TS_ASSIGN(m_machine, machine_facts());
  TS_ASSIGN(m_toolchain, m_builder.toolchain(m_case.source.language));
  opening.toolchain = m_toolchain;
  if (!m_options.run_folder.empty()) TS_TRY(make_folders(m_options.run_folder + "/logs", 0700));
  TS_ASSIGN(InputPool pool, make_pool(m_case.shapes, m_input_seed, k_sets_small));
  m_pool.emplace(std::move(pool));
  CompareRules strict;  // the case's tolerance is judged as it is, whatever defence is off
  strict.tolerance = m_case.tolerance;
  TS_TRY(lint_tolerance(m_case, *m_pool, strict));

  TS_ASSIGN(const BaselineBuilds built, build_baseline());
  if (built.plain.evidence.outcome != BuildEvidence::Outcome::ok) {
    return fail(
        ErrorCode::invalid, "the baseline does not build: " + built.plain.evidence.detail,
        built.plain.evidence.log_path.empty() ? "" : "the full log is " + built.plain.evidence.log_path,
        Place{m_case.file, 0, 0, "/baseline"});
  }
  m_baseline =
      Contender{{built.plain.library, built.plain.glue}, m_case.baseline.kind == Baseline::Kind::source};
  m_incumbent = m_baseline;

  TS_ASSIGN(const MeasuringLock lock, MeasuringLock::take());
  const PinnedThread pinned(m_core);
  Started& session = incumbent_session();
  if (!session) {
    return fail(session.error().infra() ? ErrorCode::infra : ErrorCode::invalid,
                "the baseline does not run: " + session.error().detail, "",
                Place{m_case.file, 0, 0, "/baseline"});
  }
  opening.isolation = (*session)->layers().text();
  opening.baseline.build = built.plain.evidence;
  opening.baseline.build.compiler = m_toolchain;
  opening.baseline.machine = m_machine.cpu_model;
  opening.baseline.isolation = opening.isolation;
  opening.baseline.shapes = blank_shapes(*m_pool);
  if (auto rejection = check_all(*m_pool, **session, opening.baseline.shapes)) {
    return fail(rejection->infra() ? ErrorCode::infra : ErrorCode::invalid,
                fmt::format("the baseline fails its own check ({}): {}", code_of(rejection->reason),
                            rejection->detail),
                "mend the baseline, the reference or the tolerance", Place{m_case.file, 0, 0, "/baseline"});
  }
  m_baseline_error = 0;
  for (const ShapeEvidence& shape : opening.baseline.shapes)
    m_baseline_error = std::max(m_baseline_error, shape.check.max_abs_error);

  TS_TRY(open_canaries(built.wrong, built.slow, **session));
  // The baseline against itself: its times, and a first A/A round.
  HeatOptions options;
  options.maximum_pairs = options.minimum_pairs;
  options.give_up_early = false;
  const Heat heat = race(*m_pool, **session, **session, options);
  if (heat.rejection && heat.rejection->reason != Reason::impossible_time) {
    return fail(ErrorCode::infra, "the baseline fails while it is timed: " + heat.rejection->detail);
  }
  if (heat.rejection) opening.notes.push_back("baseline: " + heat.rejection->detail);
  conclude(opening.baseline, heat);
  opening.baseline.rejection = Reason::none;
  opening.baseline.rejection_detail.clear();
  opening.baseline.comparison = Comparison::same;
  opening.baseline.log_ratio = 0;
  opening.baseline.peak_memory_bytes = (*session)->memory_bytes();
  opening.baseline.load_average = load_average();
  for (const std::string& off : m_options.defences_off)
    opening.notes.push_back("defence switched off: " + off);
  return opening;
}

}  // namespace tunesmith::bench
