#include "bench/replay_bench.h"

#include <fmt/format.h>

#include <cmath>

#include "base/hash.h"
#include "base/random.h"
#include "base/text.h"
#include "bench/set_comparison.h"
#include "stats/paired.h"

namespace tunesmith::bench {

namespace {

using recording::Entry;
using recording::Outcome;

constexpr const char* k_toolchain = "replay";

/// The reason that a recording of ours starts its line with; otherwise what the outcome says.
Reason reason_of(const Entry& entry) {
  const std::string_view line = entry.reason;
  if (const auto known = reason_from_code(line.substr(0, line.find(':'))); known && *known != Reason::none)
    return *known;
  switch (entry.status) {
    case Outcome::ok:
      return Reason::none;
    case Outcome::compile_failed:
      return Reason::build_failed;
    case Outcome::runtime_failed:
      return Reason::crashed;
    case Outcome::wrong_result:
      return Reason::wrong_result;
    case Outcome::timed_out:
      return Reason::timeout;
    case Outcome::refused:
      return Reason::constraint;
    case Outcome::no_time:
      return Reason::impossible_time;
  }
  return Reason::missing_evidence;
}

std::string detail_of(const Entry& entry) {
  return fmt::format("recorded as {}{}", name_of(entry.status),
                     entry.reason.empty() ? "" : ": " + entry.reason);
}

/// Failures that ended before there was anything to run.
bool failed_build(const Entry& entry) {
  return entry.status == Outcome::compile_failed || entry.status == Outcome::refused ||
         reason_of(entry) == Reason::build_timeout;
}

}  // namespace

Result<std::unique_ptr<Bench>> make_replay_bench(const Case& c, const BenchOptions& options) {
  if (!c.recording) {
    return fail(ErrorCode::invalid, "backend replay needs a recording", "name one under \"recording\"",
                Place{c.file, 0, 0, "/recording"});
  }
  return std::make_unique<ReplayBench>(c, options);
}

ReplayBench::ReplayBench(const Case& c, const BenchOptions& options)
    : m_case(c), m_recording(*c.recording), m_options(options) {
  Hasher hasher;
  for (const std::string& file : m_recording.files) hasher.field(file);
  m_key = hasher.hex();
  if (c.baseline.config) m_baseline = m_recording.find(*c.baseline.config);
  m_incumbent = m_baseline;
}

double ReplayBench::cost(const Entry* entry) const {
  return entry == nullptr ? 1.0 : m_recording.cost_of(*entry);
}

void ReplayBench::charge(double ms) const {
  if (m_options.simulated_ns != nullptr && std::isfinite(ms) && ms > 0)
    *m_options.simulated_ns += static_cast<std::int64_t>(std::min(ms * 1e6, 9e18));
}

Evidence ReplayBench::blank() const {
  Evidence e;
  e.build.outcome = BuildEvidence::Outcome::ok;
  e.build.compiler = k_toolchain;
  e.machine = m_recording.device.empty() ? "an unnamed device" : m_recording.device;
  e.isolation = "none: replayed, nothing runs";
  e.seed = m_options.seed;
  return e;
}

Result<Opening> ReplayBench::open() {
  Opening opening;
  opening.toolchain = k_toolchain;
  opening.isolation = blank().isolation;
  opening.notes.push_back(
      fmt::format("replayed from {}: nothing is measured on this machine", m_recording.file));
  for (const std::string& note : m_recording.notes) opening.notes.push_back(note);
  if (m_baseline != nullptr) {
    charge(m_baseline->cost_ms());
    opening.baseline = race(*m_baseline, m_baseline, m_options.minimum_pairs, "opening");
  } else {
    Entry nominal;
    nominal.status = Outcome::ok;
    nominal.time_ms = nominal.value = 1;
    opening.baseline = race(nominal, nullptr, m_options.minimum_pairs, "opening");
  }
  opening.baseline.comparison = Comparison::same;
  return opening;
}

Result<std::string> ReplayBench::identity(const Candidate& candidate) {
  if (!candidate.diff.empty()) {
    return fail(ErrorCode::invalid, "a recording knows configurations only, no patches",
                "leave the diff out, or use a case with sources");
  }
  Hasher hasher;
  return hasher.field(m_key).field(m_recording.space.text(candidate.config)).hex();
}

std::vector<Built> ReplayBench::build(std::span<const Candidate> candidates) {
  std::vector<Built> out;
  for (const Candidate& candidate : candidates) {
    Built& built = out.emplace_back();
    built.evidence.compiler = k_toolchain;
    if (const auto id = identity(candidate)) built.evidence.identity = *id;
    const Entry* entry = m_recording.find(candidate.config);
    if (entry == nullptr || !candidate.diff.empty()) {
      built.evidence.outcome = BuildEvidence::Outcome::failed;
      built.evidence.reason = Reason::constraint;
      built.evidence.detail = "it is not recorded";
      continue;
    }
    charge(entry->compile_ms);
    built.evidence.wall_ms = entry->compile_ms;
    built.evidence.outcome = BuildEvidence::Outcome::ok;
    if (!failed_build(*entry)) continue;
    built.evidence.reason = reason_of(*entry);
    built.evidence.outcome = built.evidence.reason == Reason::build_timeout
                                 ? BuildEvidence::Outcome::timed_out
                                 : BuildEvidence::Outcome::failed;
    built.evidence.detail = detail_of(*entry);
  }
  return out;
}

Evidence ReplayBench::measure(const Candidate& candidate, const Built& built) {
  const Entry* entry = m_recording.find(candidate.config);
  Evidence e = blank();
  if (entry == nullptr) {
    e.rejection = Reason::missing_evidence;
    e.rejection_detail = "it is not recorded";
  } else if (!entry->ok()) {
    e.rejection = reason_of(*entry);
    e.rejection_detail = detail_of(*entry);
  } else {
    e = race(*entry, m_incumbent, m_options.maximum_pairs, "measure");
  }
  if (entry != nullptr) {
    charge(entry->verify_ms + entry->bench_ms);
    e.wall_ms = entry->cost_ms();
  }
  e.build = built.evidence;
  e.log_ratio_to_baseline = e.log_ratio + m_incumbent_log_ratio;
  return e;
}

Status ReplayBench::set_incumbent(const Candidate* candidate, const Built*, double log_ratio_to_baseline) {
  m_incumbent = candidate == nullptr ? m_baseline : m_recording.find(candidate->config);
  m_incumbent_log_ratio = candidate == nullptr ? 0 : log_ratio_to_baseline;
  return {};
}

Evidence ReplayBench::confirm(const Candidate& candidate) {
  const Entry* entry = m_recording.find(candidate.config);
  Evidence e = blank();
  if (entry != nullptr && entry->ok()) {
    e = race(*entry, m_baseline, m_options.confirm_pairs, "confirm");
  } else {
    e.rejection = Reason::missing_evidence;
    e.rejection_detail = "it is not recorded";
  }
  e.build.identity = identity(candidate).value_or("");
  e.log_ratio_to_baseline = e.log_ratio;
  e.confirmed = true;
  return e;
}

/// Repeats of both sides drawn by the seed, as many as the paired test asks for.
void ReplayBench::time_by_repeats(TimingEvidence& timing, const Entry& entry, const Entry& incumbent,
                                  std::size_t pairs, std::string_view purpose) const {
  const std::string stream = fmt::format("{} {} {}", purpose, m_recording.space.text(entry.config),
                                         m_recording.space.text(incumbent.config));
  Rng rng(derive_seed(m_options.seed, stream));
  stats::PairedOptions options;
  options.minimum_effect = m_options.minimum_effect;
  options.minimum_pairs = m_options.minimum_pairs;
  options.maximum_pairs = std::max(pairs, m_options.minimum_pairs);
  const std::vector<std::size_t> looks = stats::look_schedule(options);
  std::vector<double> ratios;
  stats::PairedResult result;
  const auto draw = [&](const Entry& from) { return from.samples_ms[rng.below(from.samples_ms.size())]; };
  for (const std::size_t size : looks) {
    while (ratios.size() < size) {
      PairSample pair;
      pair.candidate_wall_ms = pair.candidate_cpu_ms = draw(entry);
      pair.incumbent_wall_ms = pair.incumbent_cpu_ms = draw(incumbent);
      ratios.push_back(std::log(pair.candidate_wall_ms / pair.incumbent_wall_ms));
      timing.samples.push_back(pair);
    }
    result = stats::look(ratios, options);
    if (result.decided) break;
  }
  timing.pairs = static_cast<int>(ratios.size());
  set_comparison(timing, result);
}

Evidence ReplayBench::race(const Entry& entry, const Entry* incumbent, std::size_t pairs,
                           std::string_view purpose) const {
  Evidence e = blank();
  ShapeEvidence s;
  s.shape = m_case.shapes.front().name;
  // That its result was right is a part of the record.
  s.check.planned = s.check.executed = 1;
  s.check.passed = true;
  TimingEvidence& timing = s.timing;
  timing.latency_ms = timing.cpu_ms = entry.time_ms;
  timing.incumbent_latency_ms = timing.incumbent_cpu_ms = incumbent == nullptr ? 1 : incumbent->time_ms;
  timing.clock = "recorded";
  timing.mode = "replay";
  const bool repeats = incumbent != nullptr && m_recording.objective == "time" &&
                       entry.samples_ms.size() > 1 && incumbent->samples_ms.size() > 1;
  if (repeats) {
    time_by_repeats(timing, entry, *incumbent, pairs, purpose);
  } else {
    // One exact figure a side: whatever differs, differs.
    timing.pairs = 1;
    timing.confidence = 1;
    timing.log_ratio = std::log(cost(&entry) / cost(incumbent));
    timing.log_ratio_low = timing.log_ratio_high = timing.log_ratio;
    timing.comparison = timing.log_ratio < 0   ? Comparison::faster
                        : timing.log_ratio > 0 ? Comparison::slower
                                               : Comparison::same;
  }
  e.log_ratio = e.log_ratio_to_baseline = timing.log_ratio;
  e.comparison = timing.comparison;
  e.shapes.push_back(std::move(s));
  return e;
}

}  // namespace tunesmith::bench
