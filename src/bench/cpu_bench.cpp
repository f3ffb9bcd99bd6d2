#include "bench/cpu_bench.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cmath>
#include <thread>

#include "base/clock.h"
#include "base/hash.h"
#include "bench/load.h"
#include "bench/pinning.h"
#include "bench/references.h"
#include "bench/source_reference.h"
#include "case/flags.h"

namespace tunesmith::bench {

namespace {

constexpr double k_budget_floor = 1e-6;  // of the output's scale: four units in the last place of f32

/// Sets of inputs that a run can afford to compute references for, and a worker to map. Always even: outputs
/// have two places, and neighbouring sets use different ones.
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
  // The sandbox's user must pass through to its own folder and to the libraries; names inside are not
  // listable.
  if (chmod(folder.path().c_str(), 0711) != 0)
    return fail(ErrorCode::infra, "cannot open the build folder to the sandbox's user");
  return std::unique_ptr<Bench>(new CpuBench(c, options, std::move(folder), defences));
}

CpuBench::CpuBench(const Case& c, const BenchOptions& options, TempDir folder, const Defences& defences)
    : m_case(c),
      m_options(options),
      m_defences(defences),
      m_folder(std::move(folder)),
      m_builder(c, m_folder.path(), options.run_folder.empty() ? std::string() : options.run_folder + "/logs",
                defences, options.stop) {
  m_core = c.limits.threads == 1 ? measuring_core() : -1;
  if (m_options.build_jobs <= 0)
    m_options.build_jobs = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
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

Result<InputPool> CpuBench::make_pool(const std::vector<Shape>& shapes, std::uint64_t seed,
                                      std::size_t sets) {
  double flops = 0, bytes = 0;
  for (const Shape& shape : shapes) {
    TS_ASSIGN(const ShapeLayout layout, lay_out(m_case, shape));
    flops = std::max(flops, layout.flops);
    bytes = std::max(bytes, static_cast<double>(layout.input_pages * k_page_bytes));
  }
  TS_ASSIGN(InputPool pool,
            InputPool::make(m_case, shapes, seed, std::min(sets, affordable_sets(flops, bytes))));
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
    job.macros.emplace_back(m_case.space.parameters()[i].name,
                            space::macro_text(m_case.space.value(candidate.config, i)));
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

CpuBench::Started CpuBench::start(const InputPool& pool, const Contender& contender,
                                  const std::string& log_name) {
  SessionOptions options;
  options.defences = m_defences;
  options.cpu = m_core;
  if (&pool == (m_pool ? &*m_pool : nullptr)) options.store = &m_store;
  options.trusted = contender.trusted;
  options.stop = m_options.stop;
  if (!m_options.run_folder.empty() && !log_name.empty())
    options.log_path = m_options.run_folder + "/logs/" + log_name;
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
  if (built.evidence.outcome != BuildEvidence::Outcome::ok)
    return reject({built.evidence.reason, built.evidence.detail});
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
    // Won once: again in fresh processes on both sides. The second heat's figures count, so that neither a
    // lucky maximum nor the memory layout of one process becomes an improvement.
    worker_overhead_ms += (*session)->overhead_cpu_ms();
    session->reset();
    incumbent = start(*m_pool, m_incumbent);
    session = start(*m_pool, contender);
    if (!session) return reject(session.error());
    if (!incumbent)
      return reject({Reason::infra, "the incumbent does not start: " + incumbent.error().detail});
    options.give_up_early = false;
    conclude(evidence, heat);
    heat = race(*m_pool, **session, **incumbent, options);
    evidence.peak_memory_bytes = std::max(evidence.peak_memory_bytes, (*session)->memory_bytes());
  }
  if (heat.rejection && heat.rejection->infra())
    incumbent = tl::unexpected(Rejection{});  // a new one next time
  conclude(evidence, heat);
  evidence.log_ratio_to_baseline = m_incumbent_log_ratio + evidence.log_ratio;
  evidence.wall_ms = static_cast<double>(monotonic_ns() - started_ns) * 1e-6;
  worker_overhead_ms += (*session)->overhead_cpu_ms();
  evidence.overhead_cpu_ms =
      evidence.build.overhead_cpu_ms + worker_overhead_ms + process_cpu_ms() - own_before_ms;
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

}  // namespace tunesmith::bench
