#include "bench/command_bench.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cmath>
#include <cstdlib>

#include "base/clock.h"
#include "base/hash.h"
#include "base/text.h"
#include "case/flags.h"
#include "stats/descriptive.h"

namespace tunesmith::bench {

namespace {

constexpr std::size_t k_library_limit_bytes = 256U << 20;
constexpr int k_duel_rounds = 3;  // a run reports a median of its own already
constexpr int k_confirm_rounds = 7;

std::string from_environment(const char* name, const char* fallback) {
  const char* value = std::getenv(name);
  return fmt::format("{}={}", name, value != nullptr && *value != '\0' ? value : fallback);
}

void replace_all(std::string& text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

Built failed(const std::string& identity, BuildEvidence::Outcome outcome, Reason reason,
             const std::string& detail) {
  Built built;
  built.evidence.identity = identity;
  built.evidence.outcome = outcome;
  built.evidence.reason = reason;
  built.evidence.detail = detail;
  return built;
}

/// The result JSON that a run wrote to its file, or the last line of its output that begins with a brace.
std::string report_text(const std::string& output, const std::string& file) {
  if (exists(file)) {
    auto text = read_file(file, 1U << 20);
    return text ? *text : std::string();
  }
  const std::size_t whole = output.find('{');
  std::string last;
  for (const std::string_view line : split_lines(output)) {
    if (trim(line).starts_with("{") && trim(line).ends_with("}")) last = std::string(trim(line));
  }
  if (!last.empty()) return last;
  return whole == std::string::npos ? std::string() : output.substr(whole);
}

}  // namespace

Result<CommandRun> run_case_command(const Case& c, const std::vector<std::string>& argv,
                                    const space::Config& config, const std::string& out,
                                    const std::string& result, double seconds,
                                    const std::atomic<bool>* stop) {
  os::Command command;
  for (std::string word : argv) {
    replace_all(word, "{out}", out);
    replace_all(word, "{result}", result);
    TS_ASSIGN(std::string filled, fill_placeholders(word, c.space, config));
    command.argv.push_back(std::move(filled));
  }
  command.environment = {from_environment("PATH", "/usr/local/bin:/usr/bin:/bin"),
                         from_environment("HOME", "/nonexistent"), from_environment("LANG", "C.UTF-8")};
  // The field's convention for scripts: parameters are in the environment, too.
  for (std::size_t i = 0; i < c.space.parameters().size(); ++i) {
    command.environment.push_back(fmt::format("TUNESMITH_PARAM_{}={}", c.space.parameters()[i].name,
                                              space::macro_text(c.space.value(config, i))));
  }
  command.working_folder = parent_folder(c.file);
  command.wall_seconds = seconds;
  command.output_bytes = c.limits.output_bytes;
  command.stop = stop;
  const os::Finished finished = os::run(command);
  if (finished.outcome == os::Finished::Outcome::interrupted)
    return fail(ErrorCode::interrupted, "interrupted");
  if (finished.outcome == os::Finished::Outcome::not_started) {
    return fail(ErrorCode::invalid, fmt::format("cannot start {}: {}", command.argv.front(), finished.output),
                "", Place{c.file, 0, 0, "/command"});
  }
  return CommandRun{finished.ok(),    finished.outcome == os::Finished::Outcome::timed_out,
                    finished.text(),  finished.output,
                    finished.wall_ms, finished.cpu_ms};
}

Result<std::unique_ptr<Bench>> make_command_bench(const Case& c, const BenchOptions& options) {
  TS_ASSIGN(const Defences defences, Defences::without(options.defences_off));
  TS_ASSIGN(TempDir folder, TempDir::make("tunesmith-bench-"));
  if (chmod(folder.path().c_str(), 0711) != 0)
    return fail(ErrorCode::infra, "cannot open the build folder to the sandbox's user");
  if (c.command->library.empty())
    return std::unique_ptr<Bench>(new SelfReportedBench(c, options, std::move(folder)));
  return std::unique_ptr<Bench>(new CommandLibraryBench(c, options, std::move(folder), defences));
}

Built CommandLibraryBench::glue(GlueKind kind) {
  BuildJob job;
  static const SourceSet k_cxx;
  job.source = &k_cxx;
  job.flags = {"-O1"};
  job.text = bound_glue_source(m_case, kind);
  job.glue = kind;
  job.trusted = true;
  job.identity = sha256_hex("glue" + m_case.text_sha256);
  return m_builder.build(job);
}

Built CommandLibraryBench::build_one(const Candidate& candidate, const std::string& identity) {
  if (m_plain_glue.empty()) {
    const Built plain = glue(GlueKind::plain);
    if (plain.evidence.outcome != BuildEvidence::Outcome::ok) return plain;
    m_plain_glue = plain.library;
  }
  const std::string out = fmt::format("{}/command-{}", m_folder.path(), identity.substr(0, 32));
  std::string library = m_case.command->library;
  replace_all(library, "{out}", out);
  const auto path = fill_placeholders(library, m_case.space, candidate.config);
  if (!path) return failed(identity, BuildEvidence::Outcome::infra, Reason::infra, path.error().line());
  if (!m_case.command->build.empty()) {
    const auto run = run_case_command(m_case, m_case.command->build, candidate.config, out, out,
                                      m_case.limits.build_seconds, m_options.stop);
    if (!run) return failed(identity, BuildEvidence::Outcome::infra, Reason::infra, run.error().line());
    if (!run->ok) {
      Built built = failed(
          identity, run->timed_out ? BuildEvidence::Outcome::timed_out : BuildEvidence::Outcome::failed,
          run->timed_out ? Reason::build_timeout : Reason::build_failed,
          run->text + ": " + first_error(run->output, {}));
      built.evidence.log_excerpt = cut(printable(run->output), 4096);
      if (!m_options.run_folder.empty()) {
        built.evidence.log_path =
            fmt::format("{}/logs/{}.build.log", m_options.run_folder, identity.substr(0, 16));
        (void)write_scratch(built.evidence.log_path, run->output, 0600);
      }
      return built;
    }
    // {out} may be the library itself.
  }
  const auto bytes = read_file(*path, k_library_limit_bytes);
  if (!bytes)
    return failed(identity, BuildEvidence::Outcome::failed, Reason::build_failed,
                  "the build left no library: " + bytes.error().line());
  Built built;
  built.evidence.identity = identity;
  built.evidence.library_sha256 = sha256_hex(*bytes);
  // A copy of our own: a build that writes to one fixed place must not change what an incumbent was measured
  // with.
  built.library = fmt::format("{}/{}.so", m_folder.path(), identity.substr(0, 32));
  built.glue = m_plain_glue;
  if (auto wrote = write_scratch(built.library, *bytes, 0644); !wrote) {
    return failed(identity, BuildEvidence::Outcome::infra, Reason::infra, wrote.error().line());
  }
  built.evidence.outcome = BuildEvidence::Outcome::ok;
  built.evidence.compiler = "the case's own build line";
  return built;
}

std::vector<Built> CommandLibraryBench::build(std::span<const Candidate> candidates) {
  std::vector<Built> results;
  // One at a time: a build system of the user's may not bear two builds in one folder.
  for (const Candidate& candidate : candidates) {
    const auto id = identity(candidate);
    results.push_back(
        id ? build_one(candidate, *id)
           : failed({}, BuildEvidence::Outcome::forbidden, Reason::forbidden_edit, id.error().line()));
  }
  return results;
}

Result<CpuBench::BaselineBuilds> CommandLibraryBench::build_baseline() {
  const Candidate candidate{*m_case.baseline.config, {}};
  TS_ASSIGN(const std::string id, identity(candidate));
  BaselineBuilds builds;
  builds.plain = build_one(candidate, id);
  const auto mutant = [&](GlueKind kind) {
    Built built = builds.plain;
    const Built made = glue(kind);
    if (made.evidence.outcome != BuildEvidence::Outcome::ok) return made;
    built.glue = made.library;
    return built;
  };
  builds.wrong = mutant(GlueKind::wrong);
  builds.slow = mutant(GlueKind::slow);
  return builds;
}

SelfReportedBench::SelfReportedBench(const Case& c, const BenchOptions& options, TempDir folder)
    : m_case(c), m_options(options), m_folder(std::move(folder)) {
  if (c.baseline.config) m_incumbent.config = *c.baseline.config;
}

Result<std::string> SelfReportedBench::identity(const Candidate& candidate) {
  return candidate_identity(m_case, candidate, "self-reported");
}

std::vector<Built> SelfReportedBench::build(std::span<const Candidate> candidates) {
  std::vector<Built> results;
  for (const Candidate& candidate : candidates) {
    const auto id = identity(candidate);
    if (!id) {
      results.push_back(
          failed({}, BuildEvidence::Outcome::forbidden, Reason::forbidden_edit, id.error().line()));
      continue;
    }
    Built built;
    built.evidence.identity = *id;
    built.evidence.compiler = "the case's own build line";
    if (!m_case.command->build.empty()) {
      const std::string out = fmt::format("{}/{}", m_folder.path(), id->substr(0, 32));
      const auto run = run_case_command(m_case, m_case.command->build, candidate.config, out, out,
                                        m_case.limits.build_seconds, m_options.stop);
      if (!run) {
        built = failed(*id, BuildEvidence::Outcome::infra, Reason::infra, run.error().line());
      } else if (!run->ok) {
        built =
            failed(*id, run->timed_out ? BuildEvidence::Outcome::timed_out : BuildEvidence::Outcome::failed,
                   run->timed_out ? Reason::build_timeout : Reason::build_failed,
                   run->text + ": " + first_error(run->output, {}));
        built.evidence.log_excerpt = cut(printable(run->output), 4096);
      }
      if (!run || !run->ok) {
        results.push_back(std::move(built));
        continue;
      }
      built.evidence.cpu_ms = run->cpu_ms;
      built.evidence.wall_ms = run->wall_ms;
    }
    built.evidence.outcome = BuildEvidence::Outcome::ok;
    results.push_back(std::move(built));
  }
  return results;
}

tl::expected<SelfReportedBench::Report, Rejection> SelfReportedBench::run_once(const Candidate& candidate) {
  const auto id = identity(candidate);
  const std::string out =
      fmt::format("{}/{}", m_folder.path(), id ? id->substr(0, 32) : std::string("unknown"));
  const std::string file = fmt::format("{}/result-{}.json", m_folder.path(), ++m_runs);
  const auto run = run_case_command(m_case, m_case.command->run, candidate.config, out, file,
                                    m_case.limits.call_seconds, m_options.stop);
  if (!run) return tl::unexpected(Rejection{Reason::infra, run.error().line()});
  if (run->timed_out) return tl::unexpected(Rejection{Reason::timeout, run->text});
  if (!run->ok)
    return tl::unexpected(Rejection{Reason::crashed, run->text + ": " + first_error(run->output, {})});
  const std::string text = report_text(run->output, file);
  if (text.empty())
    return tl::unexpected(Rejection{Reason::missing_evidence, "the run line reported no result"});
  const auto node = Node::parse(text, "the reported result");
  if (!node) return tl::unexpected(Rejection{Reason::missing_evidence, node.error().line()});
  Report report;
  const auto number = [&](std::string_view key) -> std::optional<double> {
    const auto found = node->find(key);
    if (!found) return std::nullopt;
    const auto value = found->as_double();
    return value ? std::optional<double>(*value) : std::nullopt;
  };
  if (const auto fails = number("compile_fail"); fails && !(*fails <= 0)) {
    return tl::unexpected(Rejection{Reason::build_failed,
                                    fmt::format("the run line reports {} failed compilation(s)", *fails)});
  }
  const auto latency = number("latency_ms");
  if (!latency)
    return tl::unexpected(Rejection{Reason::missing_evidence, "the reported result has no latency_ms"});
  if (!(*latency > 0) || !std::isfinite(*latency)) {
    return tl::unexpected(
        Rejection{Reason::impossible_time, fmt::format("a reported time of {} ms is no time", *latency)});
  }
  report.latency_ms = *latency;
  report.max_abs_error = number("max_abs_error");
  report.max_rel_error = number("max_rel_error");
  if (!report.max_abs_error)
    return tl::unexpected(Rejection{Reason::missing_evidence, "the reported result has no max_abs_error"});
  if (!(*report.max_abs_error <= m_case.tolerance.absolute)) {
    return tl::unexpected(
        Rejection{Reason::wrong_result, fmt::format("the reported max_abs_error {} is above the tolerance {}",
                                                    *report.max_abs_error, m_case.tolerance.absolute)});
  }
  return report;
}

Evidence SelfReportedBench::duel(const Candidate& candidate, const Candidate& incumbent,
                                 const BuildEvidence& build, int rounds) {
  Evidence evidence;
  evidence.build = build;
  evidence.self_reported = true;
  evidence.machine = m_machine;
  evidence.isolation = "none";
  const std::int64_t started_ns = monotonic_ns();
  const auto reject = [&](const Rejection& rejection) {
    evidence.rejection = rejection.reason;
    evidence.rejection_detail = rejection.detail;
    evidence.infra = rejection.infra();
    evidence.wall_ms = static_cast<double>(monotonic_ns() - started_ns) * 1e-6;
    return evidence;
  };
  if (build.outcome != BuildEvidence::Outcome::ok) return reject({build.reason, build.detail});
  ShapeEvidence shape;
  shape.shape = m_case.shapes.empty() ? "" : m_case.shapes.front().name;
  if (!m_case.shapes.empty()) {
    shape.flops = flops_of(m_case, m_case.shapes.front()).value_or(0);
    shape.bytes = bytes_of(m_case, m_case.shapes.front()).value_or(0);
  }
  const auto lock = MeasuringLock::take();
  if (!lock) return reject({Reason::infra, lock.error().line()});
  std::vector<double> mine, theirs;
  for (int round = 0; round < rounds; ++round) {
    // A B, B A, A B: neither side is always the first.
    for (int turn = 0; turn < 2; ++turn) {
      const bool candidate_turn = (round + turn) % 2 == 0;
      const auto report = run_once(candidate_turn ? candidate : incumbent);
      if (!report && candidate_turn) return reject(report.error());
      if (!report) return reject({Reason::infra, "the incumbent failed: " + report.error().detail});
      (candidate_turn ? mine : theirs).push_back(report->latency_ms);
      if (!candidate_turn) continue;
      ++shape.check.planned;
      ++shape.check.executed;
      shape.check.max_abs_error = std::max(shape.check.max_abs_error, *report->max_abs_error);
      shape.check.max_rel_error = std::max(shape.check.max_rel_error, report->max_rel_error.value_or(0));
    }
    shape.timing.samples.push_back({mine.back(), theirs.back(), mine.back(), theirs.back()});
  }
  shape.check.passed = true;
  TimingEvidence& timing = shape.timing;
  timing.pairs = rounds;
  timing.clock = "self-reported";
  timing.mode = "unknown";
  timing.latency_ms = stats::median(mine);
  timing.incumbent_latency_ms = stats::median(theirs);
  timing.log_ratio = std::log(timing.latency_ms / timing.incumbent_latency_ms);
  timing.log_ratio_low =
      std::log(*std::min_element(mine.begin(), mine.end()) / *std::max_element(theirs.begin(), theirs.end()));
  timing.log_ratio_high =
      std::log(*std::max_element(mine.begin(), mine.end()) / *std::min_element(theirs.begin(), theirs.end()));
  // Too few figures for a test: only a clear gap between all of one side and all of the other counts.
  timing.comparison = timing.log_ratio_high < -m_options.minimum_effect ? Comparison::faster
                      : timing.log_ratio_low > m_options.minimum_effect ? Comparison::slower
                                                                        : Comparison::ambiguous;
  evidence.log_ratio = timing.log_ratio;
  evidence.comparison = timing.comparison;
  evidence.log_ratio_to_baseline = m_incumbent_log_ratio + timing.log_ratio;
  evidence.shapes.push_back(std::move(shape));
  evidence.wall_ms = static_cast<double>(monotonic_ns() - started_ns) * 1e-6;
  return evidence;
}

Result<Opening> SelfReportedBench::open() {
  Opening opening;
  TS_ASSIGN(const Machine machine, machine_facts());
  m_machine = machine.cpu_model;
  opening.toolchain = "self-reported";
  opening.isolation = "none";
  if (!m_options.run_folder.empty()) TS_TRY(make_folders(m_options.run_folder + "/logs", 0700));
  const Candidate both[] = {m_incumbent};
  const Built built = build(both).front();
  opening.baseline = duel(m_incumbent, m_incumbent, built.evidence, 1);
  if (opening.baseline.rejection != Reason::none) {
    return fail(opening.baseline.infra ? ErrorCode::infra : ErrorCode::invalid,
                "the baseline fails: " + opening.baseline.rejection_detail, "",
                Place{m_case.file, 0, 0, "/command"});
  }
  opening.baseline.comparison = Comparison::same;
  opening.baseline.log_ratio = opening.baseline.log_ratio_to_baseline = 0;
  opening.notes.emplace_back(
      "figures are self-reported: the case offers no C entry, so nothing here was measured or checked by the "
      "examiner");
  return opening;
}

Evidence SelfReportedBench::measure(const Candidate& candidate, const Built& built) {
  return duel(candidate, m_incumbent, built.evidence, k_duel_rounds);
}

Status SelfReportedBench::set_incumbent(const Candidate* candidate, const Built*,
                                        double log_ratio_to_baseline) {
  m_incumbent = candidate != nullptr ? *candidate : Candidate{*m_case.baseline.config, {}};
  m_incumbent_log_ratio = candidate != nullptr ? log_ratio_to_baseline : 0;
  return {};
}

Evidence SelfReportedBench::confirm(const Candidate& candidate) {
  const Candidate both[] = {candidate};
  const Built built = build(both).front();
  m_incumbent_log_ratio = 0;
  Evidence evidence =
      duel(candidate, Candidate{*m_case.baseline.config, {}}, built.evidence, k_confirm_rounds);
  evidence.confirmed = evidence.rejection == Reason::none;
  return evidence;
}

}  // namespace tunesmith::bench
