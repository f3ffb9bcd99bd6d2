#include "bench/cpu_bench.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <thread>

#include "base/clock.h"
#include "base/hash.h"
#include "base/text.h"
#include "bench/lint.h"
#include "bench/pinning.h"
#include "bench/references.h"
#include "bench/source_reference.h"
#include "case/flags.h"
#include "stats/descriptive.h"

namespace tunesmith::bench {

namespace {

constexpr std::size_t k_sets_small = 12;   // new content for a dozen calls of a fresh process
constexpr double k_budget_floor = 1e-6;    // of the output's scale: four units in the last place of f32
constexpr double k_confirm_seconds = 60;   // at most, over all shapes
constexpr double k_confirm_spread_seconds = 10;  // plateaus of a shared machine last up to tens of seconds
constexpr int k_confirm_blocks = 4;        // fresh processes: the layout of one process is not the kernel's merit

/// Of this process alone, its children not counted.
double process_cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

double load_average() {
  double loads[1] = {0};
  return getloadavg(loads, 1) == 1 ? loads[0] : 0;
}

/// Sets of inputs that a run can afford to compute references for, and a worker to map. Always even: outputs have two
/// places, and neighbouring sets use different ones.
std::size_t affordable_sets(double flops, double bytes) {
  if (flops > 2e9) return 2;
  if (flops > 1e8 || bytes > 4e6) return 4;
  return k_sets_small;
}

Built refused(const std::string& identity, Reason reason, const std::string& detail) {
  Built built;
  built.evidence.outcome = BuildEvidence::Outcome::forbidden;
  built.evidence.reason = reason;
  built.evidence.detail = detail;
  built.evidence.identity = identity;
  return built;
}

}  // namespace

Result<std::unique_ptr<Bench>> make_cpu_bench(const Case& c, const BenchOptions& options) {
  TS_ASSIGN(const Defences defences, Defences::without(options.defences_off));
  TS_ASSIGN(TempDir folder, TempDir::make("tunesmith-bench-"));
  // The sandbox's user must pass through to its own folder and to the libraries; names inside are not listable.
  if (chmod(folder.path().c_str(), 0711) != 0) return fail(ErrorCode::infra, "cannot open the build folder to the sandbox's user");
  return std::unique_ptr<Bench>(new CpuBench(c, options, std::move(folder), defences));
}

CpuBench::CpuBench(const Case& c, const BenchOptions& options, TempDir folder, const Defences& defences)
    : m_case(c),
      m_options(options),
      m_defences(defences),
      m_folder(std::move(folder)),
      m_builder(c, m_folder.path(), options.run_folder.empty() ? std::string() : options.run_folder + "/logs", defences, options.stop) {
  m_core = c.limits.threads == 1 ? measuring_core() : -1;
  if (m_options.build_jobs <= 0) m_options.build_jobs = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  m_input_seed = options.input_seed != 0 ? options.input_seed : secret_seed();
}

CompareRules CpuBench::rules() const {
  CompareRules rules;
  rules.tolerance = m_case.tolerance;
  rules.nan_rule = m_defences.check_nan;
  rules.every_element = m_defences.check_every_element;
  if (m_defences.baseline_budget && m_case.tolerance.baseline_factor > 0 && m_baseline_error >= 0 && m_pool) {
    double scale = 0;
    for (const ShapeInputs& inputs : m_pool->shapes()) {
      for (const double s : inputs.output_scale) scale = std::max(scale, s);
    }
    rules.budget = std::max(m_case.tolerance.baseline_factor * m_baseline_error, k_budget_floor * scale);
  }
  return rules;
}

Result<InputPool> CpuBench::make_pool(const std::vector<Shape>& shapes, std::uint64_t seed, std::size_t sets) {
  double flops = 0, bytes = 0;
  for (const Shape& shape : shapes) {
    TS_ASSIGN(const ShapeLayout layout, lay_out(m_case, shape));
    flops = std::max(flops, layout.flops);
    bytes = std::max(bytes, static_cast<double>(layout.input_pages * k_page_bytes));
  }
  TS_ASSIGN(InputPool pool, InputPool::make(m_case, shapes, seed, std::min(sets, affordable_sets(flops, bytes))));
  if (m_case.reference.source) {
    TS_TRY(compute_source_reference(m_case, pool, m_builder, m_defences));
  } else {
    TS_TRY(compute_builtin(m_case, pool));
  }
  return pool;
}

Result<BuildJob> CpuBench::job_of(const Candidate& candidate, const std::string& identity) const {
  BuildJob job;
  job.source = &m_case.source;
  job.identity = identity;
  TS_ASSIGN(job.flags, fill_placeholders(m_case.flags, m_case.space, candidate.config));
  for (std::size_t i = 0; i < m_case.space.parameters().size(); ++i) {
    job.macros.emplace_back(m_case.space.parameters()[i].name, space::macro_text(m_case.space.value(candidate.config, i)));
  }
  if (!candidate.diff.empty()) {
    TS_ASSIGN(job.patched, patched_sources(m_case, candidate.diff));
  }
  return job;
}

Result<BuildJob> CpuBench::baseline_job() const {
  BuildJob job;
  if (m_case.baseline.kind == Baseline::Kind::config) {
    const Candidate candidate{*m_case.baseline.config, {}};
    TS_ASSIGN(const std::string id, candidate_identity(m_case, candidate, m_toolchain));
    return job_of(candidate, id);
  }
  job.source = &*m_case.baseline.source;
  for (const std::string& flag : m_case.flags) {
    if (flag.find('{') == std::string::npos) job.flags.push_back(flag);
  }
  job.trusted = true;
  job.identity = sha256_hex("baseline" + m_case.text_sha256 + m_toolchain);
  return job;
}

Result<std::string> CpuBench::identity(const Candidate& candidate) {
  if (m_toolchain.empty()) {
    TS_ASSIGN(m_toolchain, m_builder.toolchain(m_case.source.language));
  }
  return candidate_identity(m_case, candidate, m_toolchain);
}

std::vector<Built> CpuBench::build(std::span<const Candidate> candidates) {
  std::vector<Built> results(candidates.size());
  std::vector<BuildJob> jobs;
  std::vector<std::size_t> whose;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto id = identity(candidates[i]);
    if (!id) {
      results[i] = refused({}, Reason::forbidden_edit, id.error().line());
      continue;
    }
    auto job = job_of(candidates[i], *id);
    if (!job) {
      results[i] = refused(*id, Reason::forbidden_edit, job.error().line());
      continue;
    }
    whose.push_back(i);
    jobs.push_back(std::move(*job));
  }
  std::vector<Built> built = m_builder.build_all(jobs, m_options.build_jobs);
  for (std::size_t j = 0; j < whose.size(); ++j) results[whose[j]] = std::move(built[j]);
  for (Built& result : results) result.evidence.compiler = m_toolchain;
  return results;
}

CpuBench::Started CpuBench::start(const InputPool& pool, const Contender& contender, const std::string& log_name) {
  SessionOptions options;
  options.defences = m_defences;
  options.cpu = m_core;
  if (&pool == (m_pool ? &*m_pool : nullptr)) options.store = &m_store;
  options.trusted = contender.trusted;
  options.stop = m_options.stop;
  if (!m_options.run_folder.empty() && !log_name.empty()) options.log_path = m_options.run_folder + "/logs/" + log_name;
  return Session::start(m_case, pool, contender.what, options);
}

CpuBench::Started& CpuBench::incumbent_session() {
  if (!m_incumbent_session) m_incumbent_session = start(*m_pool, m_incumbent);
  return m_incumbent_session;
}

std::vector<ShapeEvidence> CpuBench::blank_shapes(const InputPool& pool) const {
  std::vector<ShapeEvidence> shapes;
  for (const ShapeInputs& inputs : pool.shapes()) {
    ShapeEvidence shape;
    shape.shape = inputs.layout.shape.name;
    shape.weight = inputs.layout.shape.weight;
    shape.flops = inputs.layout.flops;
    shape.bytes = inputs.layout.bytes;
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

std::optional<Rejection> CpuBench::check_all(const InputPool& pool, Session& session, std::vector<ShapeEvidence>& shapes) {
  std::size_t smallest = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (shapes[i].flops < shapes[smallest].flops) smallest = i;
  }
  const CompareRules compare_rules = rules();
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (!m_defences.check_scored_shapes && i != smallest) continue;
    CheckEvidence& check = shapes[i].check;
    int outputs = 0;
    for (const auto& argument : pool.shapes()[i].layout.arguments) outputs += argument.checked() ? 1 : 0;
    const std::size_t sets = pool.shapes()[i].sets.size();
    std::uint64_t first_hash = 0;
    // New content at new addresses, then the first content again in another slot: same bits?
    const std::size_t plan[] = {0, m_defences.fresh_inputs ? std::min<std::size_t>(1, sets - 1) : 0, 0};
    for (std::size_t round = 0; round < 3; ++round) {
      const std::size_t slot = std::min<std::size_t>(round, 1) % session.slots(i);
      const std::size_t set = plan[round];
      check.planned += outputs;
      if (auto rejection = session.prepare(i, slot, set)) return rejection;
      session.mark_seen(i, set);
      if (auto times = session.call(i, slot, 1); !times) return times.error();
      if (!m_defences.check_results) {
        check.executed += outputs;
        continue;
      }
      if (auto rejection = session.check(i, slot, set, compare_rules, check)) {
        rejection->detail = fmt::format("shape {}: {}", shapes[i].shape, rejection->detail);
        return rejection;
      }
      const std::uint64_t hash = session.output_hash(i, slot);
      if (round == 0) first_hash = hash;
      if (round == 2 && hash != first_hash && m_defences.determinism && m_case.limits.threads == 1) {
        return Rejection{Reason::nondeterministic, fmt::format("shape {}: the same inputs gave different bits", shapes[i].shape)};
      }
    }
    check.passed = check.executed >= check.planned && check.planned > 0;
    if (!check.passed) return Rejection{Reason::missing_evidence, fmt::format("{} of {} comparisons were made", check.executed, check.planned)};
  }
  return std::nullopt;
}

double CpuBench::floor_ms(const ShapeLayout& layout) {
  return speed_of_light_ms(m_machine, m_case.dtype, layout.flops, layout.bytes, m_case.limits.threads);
}

CpuBench::Heat CpuBench::race(const InputPool& pool, Session& candidate, Session& incumbent, const HeatOptions& options) {
  Heat heat;
  heat.shapes = blank_shapes(pool);
  for (std::size_t i = 0; i < heat.shapes.size(); ++i) {
    RaceOptions race_options;
    race_options.paired.minimum_effect = m_options.minimum_effect;
    race_options.paired.minimum_pairs = options.minimum_pairs;
    race_options.paired.maximum_pairs = options.maximum_pairs;
    race_options.paired.alpha = options.alpha;
    race_options.floor_ms = m_defences.speed_of_light ? floor_ms(pool.shapes()[i].layout) : 0;
    race_options.cold = m_case.clock == ClockMode::cold;
    race_options.flush_bytes = 2 * std::max<std::uint64_t>(m_machine.llc_bytes, 8U << 20);
    race_options.give_up_early = options.give_up_early;
    race_options.spread_seconds = options.spread_seconds / static_cast<double>(heat.shapes.size());
    Defences defences = m_defences;
    if (!options.check) defences.check_results = false;
    Race one(m_case, pool, i, candidate, incumbent, rules(), race_options, defences);
    RaceEnd end = one.run(heat.shapes[i].timing, heat.shapes[i].check);
    if (end.candidate && end.candidate->reason == Reason::impossible_time && !m_peaks_doubted && race_options.floor_ms > 0) {
      // The machine may have been in a slow phase when its peak was taken: measure it again, once, and judge anew.
      m_peaks_doubted = true;
      if (auto again = machine_facts(true)) m_machine = *again;
      --i;
      heat.shapes[i + 1].timing = {};
      continue;
    }
    if (end.candidate) {
      heat.rejection = Rejection{end.candidate->reason, fmt::format("shape {}: {}", heat.shapes[i].shape, end.candidate->detail)};
      return heat;
    }
    if (end.incumbent) {
      heat.rejection = Rejection{Reason::infra, fmt::format("the incumbent failed on shape {}: {}", heat.shapes[i].shape, end.incumbent->detail)};
      return heat;
    }
    CheckEvidence& check = heat.shapes[i].check;
    check.passed = check.executed >= check.planned;
    // Nothing that the other shapes could show makes up for this.
    if (options.give_up_early && heat.shapes[i].timing.log_ratio > std::log(2.0)) break;
  }
  combine(heat);
  return heat;
}

void CpuBench::combine(Heat& heat) const {
  double weights = 0, sum = 0, variance = 0;
  bool veto = false, all_same = true, measured_all = true;
  for (const ShapeEvidence& shape : heat.shapes) {
    if (shape.timing.pairs == 0) {
      measured_all = false;
      continue;
    }
    weights += shape.weight;
    sum += shape.weight * shape.timing.log_ratio;
    const double half = (shape.timing.log_ratio_high - shape.timing.log_ratio_low) / 2;
    variance += shape.weight * shape.weight * half * half;
    veto = veto || shape.timing.comparison == Comparison::slower;
    all_same = all_same && shape.timing.comparison == Comparison::same;
  }
  if (weights <= 0) return;
  heat.log_ratio = sum / weights;
  const double half = std::sqrt(variance) / weights;
  heat.low = heat.log_ratio - half;
  heat.high = heat.log_ratio + half;
  if (heat.shapes.size() == 1) {
    heat.comparison = heat.shapes[0].timing.comparison;
  } else if (!measured_all || heat.low > 0) {
    heat.comparison = Comparison::slower;
  } else if (heat.high < -m_options.minimum_effect && !veto) {
    heat.comparison = Comparison::faster;
  } else if (all_same || (heat.low > -m_options.minimum_effect && heat.high < m_options.minimum_effect)) {
    heat.comparison = Comparison::same;
  } else {
    heat.comparison = Comparison::ambiguous;
  }
}

void CpuBench::conclude(Evidence& evidence, const Heat& heat) const {
  // Checks made before the race and checks of timed calls belong to the same shape.
  for (std::size_t i = 0; i < heat.shapes.size() && i < evidence.shapes.size(); ++i) {
    CheckEvidence& to = evidence.shapes[i].check;
    const CheckEvidence& from = heat.shapes[i].check;
    to.planned += from.planned;
    to.executed += from.executed;
    to.bad_elements += from.bad_elements;
    to.max_abs_error = std::max(to.max_abs_error, from.max_abs_error);
    to.max_rel_error = std::max(to.max_rel_error, from.max_rel_error);
    to.passed = to.passed && from.executed >= from.planned;
    evidence.shapes[i].timing = heat.shapes[i].timing;
  }
  if (heat.rejection) {
    evidence.rejection = heat.rejection->reason;
    evidence.rejection_detail = heat.rejection->detail;
    evidence.infra = heat.rejection->infra();
  }
  evidence.log_ratio = heat.log_ratio;
  evidence.comparison = heat.comparison;
}

Evidence CpuBench::measure(const Candidate&, const Built& built) {
  Evidence evidence;
  evidence.build = built.evidence;
  evidence.machine = m_machine.cpu_model;
  evidence.seed = m_input_seed;
  evidence.load_average = load_average();
  const std::int64_t started_ns = monotonic_ns();
  const double own_before_ms = process_cpu_ms();
  double worker_overhead_ms = 0;
  const auto reject = [&](const Rejection& rejection) {
    evidence.rejection = rejection.reason;
    evidence.rejection_detail = rejection.detail;
    evidence.infra = rejection.infra();
    evidence.wall_ms = static_cast<double>(monotonic_ns() - started_ns) * 1e-6;
    return evidence;
  };
  if (built.evidence.outcome != BuildEvidence::Outcome::ok) return reject({built.evidence.reason, built.evidence.detail});
  if (!m_pool) return reject({Reason::infra, "the bench is not open"});
  auto lock = MeasuringLock::take();
  if (!lock) return reject({Reason::infra, lock.error().line()});
  const PinnedThread pinned(m_core);

  const Contender contender{{built.library, built.glue}, false};
  Started session = start(*m_pool, contender, built.evidence.identity.substr(0, 16) + ".run.log");
  if (!session) return reject(session.error());
  evidence.isolation = (*session)->layers().text();
  evidence.shapes = blank_shapes(*m_pool);
  if (auto rejection = check_all(*m_pool, **session, evidence.shapes)) return reject(*rejection);
  Started& incumbent = incumbent_session();
  if (!incumbent) return reject({Reason::infra, "the incumbent does not start: " + incumbent.error().detail});

  HeatOptions options;
  options.minimum_pairs = m_options.minimum_pairs;
  options.maximum_pairs = m_options.maximum_pairs;
  Heat heat = race(*m_pool, **session, **incumbent, options);
  evidence.peak_memory_bytes = (*session)->memory_bytes();
  if (!heat.rejection && heat.comparison == Comparison::faster) {
    // Won once: again in fresh processes on both sides. The second heat's figures count, so that neither a lucky
    // maximum nor the memory layout of one process becomes an improvement.
    worker_overhead_ms += (*session)->overhead_cpu_ms();
    session->reset();
    incumbent = start(*m_pool, m_incumbent);
    session = start(*m_pool, contender);
    if (!session) return reject(session.error());
    if (!incumbent) return reject({Reason::infra, "the incumbent does not start: " + incumbent.error().detail});
    options.give_up_early = false;
    conclude(evidence, heat);
    heat = race(*m_pool, **session, **incumbent, options);
    evidence.peak_memory_bytes = std::max(evidence.peak_memory_bytes, (*session)->memory_bytes());
  }
  if (heat.rejection && heat.rejection->infra()) incumbent = tl::unexpected(Rejection{});  // a new one next time
  conclude(evidence, heat);
  evidence.log_ratio_to_baseline = m_incumbent_log_ratio + evidence.log_ratio;
  evidence.wall_ms = static_cast<double>(monotonic_ns() - started_ns) * 1e-6;
  worker_overhead_ms += (*session)->overhead_cpu_ms();
  evidence.overhead_cpu_ms = evidence.build.overhead_cpu_ms + worker_overhead_ms + process_cpu_ms() - own_before_ms;
  return evidence;
}

Status CpuBench::set_incumbent(const Candidate* candidate, const Built* built, double log_ratio_to_baseline) {
  Contender next = m_baseline;
  if (candidate != nullptr) {
    Built again;
    if (built == nullptr || built->library.empty() || !exists(built->library)) {
      again = build(std::span(candidate, 1)).front();
      built = &again;
    }
    if (built->evidence.outcome != BuildEvidence::Outcome::ok) {
      return fail(ErrorCode::infra, "the incumbent does not build any more: " + built->evidence.detail);
    }
    next = Contender{{built->library, built->glue}, false};
  }
  m_incumbent = next;
  m_incumbent_log_ratio = candidate != nullptr ? log_ratio_to_baseline : 0;
  m_incumbent_session = tl::unexpected(Rejection{});
  return {};
}

Status CpuBench::open_canaries(const Built& wrong, const Built& slow, Session& baseline) {
  const auto broken = [&](const std::string& what) {
    return fail(ErrorCode::infra, "the canary says that this bench would not notice: " + what,
                "run `tunesmith selftest`; do not trust a figure from this machine until it passes");
  };
  for (const Built* built : {&wrong, &slow}) {
    if (built->evidence.outcome != BuildEvidence::Outcome::ok) return broken("a mutant of the baseline does not build: " + built->evidence.detail);
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
  if (heat.comparison != Comparison::slower) return broken("a mutant that does its work twice does not show as slower");
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
    return fail(ErrorCode::invalid, "the baseline does not build: " + built.plain.evidence.detail,
                built.plain.evidence.log_path.empty() ? "" : "the full log is " + built.plain.evidence.log_path,
                Place{m_case.file, 0, 0, "/baseline"});
  }
  m_baseline = Contender{{built.plain.library, built.plain.glue}, m_case.baseline.kind == Baseline::Kind::source};
  m_incumbent = m_baseline;

  TS_ASSIGN(const MeasuringLock lock, MeasuringLock::take());
  const PinnedThread pinned(m_core);
  Started& session = incumbent_session();
  if (!session) {
    return fail(session.error().infra() ? ErrorCode::infra : ErrorCode::invalid, "the baseline does not run: " + session.error().detail, "",
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
                fmt::format("the baseline fails its own check ({}): {}", code_of(rejection->reason), rejection->detail),
                "mend the baseline, the reference or the tolerance", Place{m_case.file, 0, 0, "/baseline"});
  }
  m_baseline_error = 0;
  for (const ShapeEvidence& shape : opening.baseline.shapes) m_baseline_error = std::max(m_baseline_error, shape.check.max_abs_error);

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
  for (const std::string& off : m_options.defences_off) opening.notes.push_back("defence switched off: " + off);
  return opening;
}

Evidence CpuBench::confirm(const Candidate& candidate) {
  Evidence evidence;
  evidence.machine = m_machine.cpu_model;
  evidence.load_average = load_average();
  const std::int64_t started_ns = monotonic_ns();
  const auto reject = [&](const Rejection& rejection) {
    evidence.rejection = rejection.reason;
    evidence.rejection_detail = rejection.detail;
    evidence.infra = rejection.infra();
    evidence.wall_ms = static_cast<double>(monotonic_ns() - started_ns) * 1e-6;
    return evidence;
  };
  // Built from nothing once more, twice: what cannot be reproduced is no result.
  const Candidate both[] = {candidate};
  const Built first = build(both).front();
  evidence.build = first.evidence;
  if (first.evidence.outcome != BuildEvidence::Outcome::ok) return reject({first.evidence.reason, first.evidence.detail});
  const Built second = build(both).front();
  if (second.evidence.library_sha256 != first.evidence.library_sha256) {
    return reject({Reason::nondeterministic, "two builds of the same source differ"});
  }
  evidence.seed = secret_seed();
  auto pool = make_pool(m_case.shapes, evidence.seed, k_sets_small);
  if (!pool) return reject({Reason::infra, pool.error().line()});
  auto lock = MeasuringLock::take();
  if (!lock) return reject({Reason::infra, lock.error().line()});
  const PinnedThread pinned(m_core);
  const Contender contender{{first.library, first.glue}, false};

  if (!m_case.held_out_shapes.empty()) {
    auto held_out = make_pool(m_case.held_out_shapes, derive_seed(evidence.seed, "held out"), 2);
    if (!held_out) return reject({Reason::infra, held_out.error().line()});
    Started session = start(*held_out, contender);
    if (!session) return reject(session.error());
    std::vector<ShapeEvidence> shapes = blank_shapes(*held_out);
    if (auto rejection = check_all(*held_out, **session, shapes)) {
      rejection->detail = "on a held-out shape: " + rejection->detail;
      return reject(*rejection);
    }
  }

  // As many pairs as a minute allows, in fresh processes on both sides.
  evidence.shapes = blank_shapes(*pool);
  std::vector<ShapeEvidence> totals = evidence.shapes;
  std::size_t pairs = m_options.confirm_pairs;
  for (int block = 0; block < k_confirm_blocks; ++block) {
    Started baseline = start(*pool, m_baseline);
    Started session = start(*pool, contender);
    if (!baseline) return reject({Reason::infra, "the baseline does not start: " + baseline.error().detail});
    if (!session) return reject(session.error());
    evidence.isolation = (*session)->layers().text();
    if (block == 0) {
      if (auto rejection = check_all(*pool, **session, evidence.shapes)) return reject(*rejection);
    }
    HeatOptions options;
    options.minimum_pairs = options.maximum_pairs = std::max<std::size_t>(8, pairs / k_confirm_blocks);
    options.give_up_early = false;
    options.spread_seconds = k_confirm_spread_seconds / k_confirm_blocks;
    const std::int64_t block_ns = monotonic_ns();
    const Heat heat = race(*pool, **session, **baseline, options);
    conclude(evidence, heat);
    if (heat.rejection) return reject(*heat.rejection);
    evidence.peak_memory_bytes = std::max(evidence.peak_memory_bytes, (*session)->memory_bytes());
    for (std::size_t i = 0; i < totals.size(); ++i) {
      const auto& samples = heat.shapes[i].timing.samples;
      totals[i].timing.samples.insert(totals[i].timing.samples.end(), samples.begin(), samples.end());
    }
    const double block_seconds = static_cast<double>(monotonic_ns() - block_ns) * 1e-9;
    if (block_seconds > k_confirm_seconds / k_confirm_blocks) {
      pairs = std::max<std::size_t>(8 * k_confirm_blocks,
                                    static_cast<std::size_t>(static_cast<double>(pairs) * k_confirm_seconds / k_confirm_blocks / block_seconds));
    }
  }

  Heat whole;
  whole.shapes = totals;
  for (std::size_t i = 0; i < totals.size(); ++i) {
    TimingEvidence& timing = evidence.shapes[i].timing;
    timing.samples = std::move(totals[i].timing.samples);
    std::vector<double> ratios, mine_wall, mine_cpu, theirs_wall, theirs_cpu;
    for (const PairSample& sample : timing.samples) {
      const bool wall = timing.clock == "wall";
      ratios.push_back(std::log((wall ? sample.candidate_wall_ms : sample.candidate_cpu_ms) / (wall ? sample.incumbent_wall_ms : sample.incumbent_cpu_ms)));
      mine_wall.push_back(sample.candidate_wall_ms);
      mine_cpu.push_back(sample.candidate_cpu_ms);
      theirs_wall.push_back(sample.incumbent_wall_ms);
      theirs_cpu.push_back(sample.incumbent_cpu_ms);
    }
    stats::PairedOptions paired;
    paired.minimum_effect = m_options.minimum_effect;
    paired.minimum_pairs = paired.maximum_pairs = ratios.size();
    const stats::PairedResult result = stats::look(ratios, paired);
    timing.pairs = static_cast<int>(ratios.size());
    timing.log_ratio = result.median;
    timing.log_ratio_low = result.low;
    timing.log_ratio_high = result.high;
    timing.confidence = result.confidence;
    timing.latency_ms = stats::median(mine_wall);
    timing.cpu_ms = stats::median(mine_cpu);
    timing.incumbent_latency_ms = stats::median(theirs_wall);
    timing.incumbent_cpu_ms = stats::median(theirs_cpu);
    timing.comparison = result.verdict == stats::PairedVerdict::faster   ? Comparison::faster
                        : result.verdict == stats::PairedVerdict::slower ? Comparison::slower
                        : result.verdict == stats::PairedVerdict::same   ? Comparison::same
                                                                         : Comparison::ambiguous;
    whole.shapes[i] = evidence.shapes[i];
  }
  combine(whole);
  evidence.log_ratio = evidence.log_ratio_to_baseline = whole.log_ratio;
  evidence.comparison = whole.comparison;
  evidence.confirmed = true;
  evidence.wall_ms = static_cast<double>(monotonic_ns() - started_ns) * 1e-6;
  return evidence;
}

}  // namespace tunesmith::bench
