#include "app/recorder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cmath>
#include <set>

#include "base/clock.h"
#include "base/file.h"
#include "base/random.h"
#include "base/text.h"
#include "case/reason.h"
#include "judge/judge.h"
#include "recording/gzip.h"
#include "recording/scan.h"

namespace tunesmith::app {

namespace {

using recording::Entry;
using recording::Outcome;

constexpr std::size_t k_batch = 4;          // built in parallel, measured one by one
constexpr int k_attempts = 3;               // before a fault of the bench leaves a configuration out
constexpr std::size_t k_most_samples = 24;  // repeats kept a configuration: enough for noise, small in a file

Outcome outcome_of(Reason reason) {
  switch (reason) {
    case Reason::build_failed:
      return Outcome::compile_failed;
    case Reason::build_timeout:
    case Reason::timeout:
      return Outcome::timed_out;
    case Reason::constraint:
    case Reason::forbidden_edit:
    case Reason::forbidden_symbol:
    case Reason::forbidden_flag:
      return Outcome::refused;
    case Reason::wrong_result:
    case Reason::stale_output:
    case Reason::nan_mismatch:
    case Reason::nondeterministic:
    case Reason::input_modified:
      return Outcome::wrong_result;
    case Reason::impossible_time:
    case Reason::clocks_disagree:
    case Reason::too_few_samples:
      return Outcome::no_time;
    default:
      return Outcome::runtime_failed;
  }
}

void fail_entry(Entry& entry, Reason reason, const std::string& detail) {
  entry.status = outcome_of(reason);
  entry.reason = printable(fmt::format("{}{}", code_of(reason), detail.empty() ? "" : ": " + detail));
}

double ratio_of(const PairSample& pair, const TimingEvidence& timing) {
  return timing.clock == "cpu" ? pair.candidate_cpu_ms / pair.incumbent_cpu_ms
                               : pair.candidate_wall_ms / pair.incumbent_wall_ms;
}

/// One repeat over all shapes is the weighted geometric mean of one pair of each.
std::vector<double> samples_of(const Evidence& evidence, double baseline_ms) {
  std::size_t pairs = k_most_samples;
  double weights = 0;
  for (const ShapeEvidence& s : evidence.shapes) {
    pairs = std::min(pairs, s.timing.samples.size());
    weights += s.weight;
  }
  std::vector<double> samples;
  if (pairs < 2 || !(weights > 0)) return samples;
  for (std::size_t i = 0; i < pairs; ++i) {
    double log_ratio = 0;
    for (const ShapeEvidence& s : evidence.shapes) {
      // Evenly from the whole race, not from its beginning.
      const std::size_t at = i * s.timing.samples.size() / pairs;
      log_ratio += s.weight * std::log(ratio_of(s.timing.samples[at], s.timing));
    }
    const double sample = baseline_ms * std::exp(log_ratio / weights);
    if (!std::isfinite(sample) || sample <= 0) return {};
    samples.push_back(sample);
  }
  return samples;
}

Result<space::Parameter> restricted(const space::Parameter& parameter, const Node& list) {
  space::Parameter out{parameter.name, {}};
  TS_ASSIGN(const auto items, list.items());
  for (const Node& item : items) {
    TS_ASSIGN(const space::Value value, space::value_from_json(item));
    const auto known = std::find_if(parameter.values.begin(), parameter.values.end(),
                                    [&](const space::Value& v) { return space::equal(v, value); });
    if (known == parameter.values.end())
      return item.error(
          fmt::format("{} is no value of {}", printable(space::value_text(value)), parameter.name),
          "choose among the case's values");
    out.values.push_back(*known);
  }
  return out;
}

/// The file that grows. Locked: two recorders would measure each other.
class Growing {
 public:
  static Result<Growing> open(const std::string& path) {
    TS_TRY(make_folders(parent_folder(path)));
    UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    if (!fd)
      return fail(ErrorCode::io, fmt::format("cannot write: {}", errno_text(errno)), "",
                  Place{path, 0, 0, {}});
    if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0)
      return fail(ErrorCode::conflict, "another process is recording into this file",
                  "wait for it, or stop it", Place{path, 0, 0, {}});
    return Growing(path, std::move(fd));
  }

  /// Whole lines; what is behind them is cut off.
  Result<std::vector<std::string>> lines() {
    TS_ASSIGN(const std::string text, read_file(m_path));
    std::vector<std::string> whole;
    std::size_t begin = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
      const std::string_view line = std::string_view(text).substr(begin, end - begin);
      if (!recording::parse_piece(line)) break;
      whole.emplace_back(line);
      begin = end + 1;
    }
    if (begin < text.size() && ftruncate(m_fd.get(), static_cast<off_t>(begin)) != 0)
      return fail(ErrorCode::io, fmt::format("cannot cut its torn end off: {}", errno_text(errno)), "",
                  Place{m_path, 0, 0, {}});
    return whole;
  }

  Status append(std::string_view line) {
    while (!line.empty()) {
      const ssize_t written = write(m_fd.get(), line.data(), line.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0)
        return fail(ErrorCode::io, fmt::format("cannot write: {}", errno_text(errno)),
                    "make room; the same command goes on", Place{m_path, 0, 0, {}});
      line.remove_prefix(static_cast<std::size_t>(written));
    }
    fdatasync(m_fd.get());
    return {};
  }

 private:
  Growing(std::string path, UniqueFd fd) : m_path(std::move(path)), m_fd(std::move(fd)) {}
  std::string m_path;
  UniqueFd m_fd;
};

class Recorder {
 public:
  Recorder(const RecordPlan& plan, bench::Bench& bench,
           const std::function<void(const RecordProgress&)>& progress)
      : m_plan(plan), m_bench(bench), m_progress(progress), m_started_ns(monotonic_ns()) {}

  Result<RecordEnd> run() {
    const bool packed = m_plan.out.ends_with(".gz");
    const std::string growing = packed ? m_plan.out.substr(0, m_plan.out.size() - 3) : m_plan.out;
    if (packed && exists(m_plan.out))
      return fail(ErrorCode::conflict, "the recording is complete already", "give --out another name",
                  Place{m_plan.out, 0, 0, {}});
    TS_ASSIGN(Growing file, Growing::open(growing));
    TS_ASSIGN(const std::vector<std::string> lines, file.lines());
    TS_ASSIGN(const bench::Opening opening, m_bench.open());
    recording::Header header = header_of(opening);
    if (lines.empty()) {
      TS_TRY(file.append(recording::header_line(header)));
    } else {
      TS_TRY(same_as_before(header, lines.front(), growing));
      take_known(lines);
    }
    m_end.baseline_ms = header.baseline_ms;
    choose_points();
    report();
    TS_TRY(record(file, header.baseline_ms));
    m_end.complete = !stopped() && m_end.left_out == 0;
    if (m_end.complete && packed) {
      TS_ASSIGN(const std::string text, read_file(growing));
      TS_ASSIGN(const std::string bytes, recording::gzip(text));
      TS_TRY(write_file_atomic(m_plan.out, bytes));
      unlink(growing.c_str());
    }
    m_end.progress = m_now;
    return m_end;
  }

 private:
  bool stopped() const { return m_plan.stop != nullptr && m_plan.stop->load(); }

  recording::Header header_of(const bench::Opening& opening) const {
    const Case& c = *m_plan.c;
    recording::Header header;
    header.name = c.name;
    header.kernel = c.source.entry.empty() ? c.name : c.source.entry;
    header.device = opening.baseline.machine;
    header.parameters = m_plan.part.parameters();
    for (const space::Space::Constraint& constraint : m_plan.part.constraints())
      header.constraints.push_back(constraint.text);
    if (c.baseline.kind == Baseline::Kind::config && c.baseline.config)
      header.baseline = c.space.to_json(*c.baseline.config);
    header.baseline_ms = judge::latency_of(opening.baseline);
    header.extra["case_sha256"] = c.text_sha256;
    header.extra["compiler"] = opening.toolchain;
    header.extra["isolation"] = opening.isolation;
    header.extra["baseline_label"] = c.baseline.label;
    header.extra["recorded_baseline_ms"] = header.baseline_ms;
    header.extra["started_utc"] = utc_now();
    return header;
  }

  /// Goes on only with what was begun: the same space of the same case, on the same machine and compiler.
  Status same_as_before(recording::Header& header, const std::string& line, const std::string& path) const {
    TS_ASSIGN(const recording::Header before, recording::header_from(line, path));
    const auto text = [](const recording::Header& h, const char* key) {
      const json::value* value = h.extra.if_contains(key);
      return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
    };
    const auto differs = [&](const char* what) {
      return fail(ErrorCode::conflict, fmt::format("it was begun with another {}", what),
                  "repeat the command as it was, or give --out another name", Place{path, 1, 0, {}});
    };
    if (text(before, "case_sha256") != text(header, "case_sha256")) return differs("case");
    if (text(before, "compiler") != text(header, "compiler")) return differs("compiler");
    if (before.device != header.device) return differs("machine");
    recording::Header a = before;
    recording::Header b = header;
    a.extra.clear();
    b.extra.clear();
    a.baseline_ms = b.baseline_ms = 0;
    if (recording::header_line(a) != recording::header_line(b))
      return differs("part of the space, or another baseline");
    header.baseline_ms = before.baseline_ms;
    return {};
  }

  void take_known(const std::vector<std::string>& lines) {
    for (std::size_t i = 1; i < lines.size(); ++i) {
      const auto node = Node::parse(lines[i], m_plan.out);
      const auto config = node ? node->find("config") : std::nullopt;
      const auto known = config ? m_plan.part.from_json(*config) : Result<space::Config>(space::Config{});
      if (!config || !known || !m_known.insert(*known).second) continue;
      const auto status = node->find("status");
      if (status && status->is_string() && status->value() != "ok") ++m_now.failures;
      const auto time = node->find("time_ms");
      if (time && time->is_number()) m_best_ms = std::min(m_best_ms, time->as_double().value_or(m_best_ms));
    }
  }

  /// In an order that a seed of the case's name gives: what is recorded of a part is a fair sample of it.
  void choose_points() {
    std::vector<std::uint64_t> order(m_plan.part.count());
    for (std::uint64_t i = 0; i < order.size(); ++i) order[i] = i;
    Rng rng(derive_seed(1, "record " + m_plan.c->name));
    rng.shuffle(order);
    if (m_plan.limit && *m_plan.limit < order.size()) order.resize(*m_plan.limit);
    for (const std::uint64_t index : order) {
      const space::Config config = m_plan.part.at(index);
      if (m_known.contains(config)) {
        ++m_now.before;
      } else {
        m_open.push_back(config);
      }
    }
    m_now.total = order.size();
    m_now.done = m_now.before;
  }

  Status record(Growing& file, double baseline_ms) {
    for (std::size_t at = 0; at < m_open.size() && !stopped(); at += k_batch) {
      std::vector<Candidate> candidates;
      for (std::size_t i = at; i < std::min(at + k_batch, m_open.size()); ++i) {
        TS_ASSIGN(const Node node,
                  Node::parse(print_json_compact(m_plan.part.to_json(m_open[i])), m_plan.out));
        TS_ASSIGN(space::Config config, m_plan.c->space.from_json(node));
        candidates.push_back({std::move(config), {}});
      }
      const std::vector<bench::Built> built = m_bench.build(candidates);
      for (std::size_t i = 0; i < candidates.size() && i < built.size() && !stopped(); ++i) {
        TS_TRY(record_one(file, m_open[at + i], candidates[i], built[i], baseline_ms));
      }
    }
    return {};
  }

  Status record_one(Growing& file, const space::Config& config, const Candidate& candidate,
                    bench::Built built, double baseline_ms) {
    Evidence evidence;
    for (int attempt = 0; attempt < k_attempts && !stopped(); ++attempt) {
      if (attempt > 0) {
        std::vector<bench::Built> again = m_bench.build(std::span(&candidate, 1));
        if (again.size() != 1)
          return fail(ErrorCode::internal, "a candidate was built and nothing came back");
        built = std::move(again.front());
      }
      evidence = Evidence{};
      evidence.infra = built.evidence.outcome == BuildEvidence::Outcome::infra;
      if (built.evidence.outcome == BuildEvidence::Outcome::ok) evidence = m_bench.measure(candidate, built);
      if (!evidence.infra) break;
    }
    if (stopped()) return {};  // what was broken off is no result
    if (evidence.infra) {
      ++m_end.left_out;
      return {};
    }
    const Entry entry = entry_from(built, evidence, baseline_ms);
    TS_TRY(file.append(recording::entry_line(m_plan.part.to_json(config), entry)));
    ++m_now.done;
    if (!entry.ok()) ++m_now.failures;
    if (entry.ok()) m_best_ms = std::min(m_best_ms, entry.time_ms);
    report();
    return {};
  }

  void report() {
    m_now.seconds = static_cast<double>(monotonic_ns() - m_started_ns) / 1e9;
    if (std::isfinite(m_best_ms) && m_end.baseline_ms > 0) m_now.best_ratio = m_best_ms / m_end.baseline_ms;
    if (m_progress) m_progress(m_now);
  }

  const RecordPlan& m_plan;
  bench::Bench& m_bench;
  const std::function<void(const RecordProgress&)>& m_progress;
  std::int64_t m_started_ns;
  std::set<space::Config> m_known;
  std::vector<space::Config> m_open;
  double m_best_ms = std::numeric_limits<double>::infinity();
  RecordProgress m_now;
  RecordEnd m_end;
};

}  // namespace

Result<space::Space> part_of(const Case& c, const std::string& subspace, const std::string& where) {
  std::vector<space::Parameter> parameters = c.space.parameters();
  std::vector<space::Space::Constraint> constraints = c.space.constraints();
  if (!subspace.empty()) {
    const bool inline_text = trim(subspace).starts_with("{");
    TS_ASSIGN(const Node root, inline_text ? Node::parse(subspace, "--subspace") : Node::read(subspace));
    Node values = root;
    if (const auto inner = root.find("parameters"); inner && inner->is_object()) {
      TS_TRY(root.only_keys({"parameters", "constraints"}));
      values = *inner;
    }
    std::vector<std::string> names;
    for (const space::Parameter& parameter : parameters) names.push_back(parameter.name);
    TS_TRY(values.only_keys(names));
    for (space::Parameter& parameter : parameters) {
      const auto list = values.find(parameter.name);
      if (!list) continue;
      TS_ASSIGN(parameter, restricted(parameter, *list));
    }
    if (const auto more = root.find("constraints")) {
      TS_ASSIGN(const auto items, more->items());
      for (const Node& item : items) {
        TS_ASSIGN(std::string text, item.as_string());
        constraints.push_back({std::move(text), item.place()});
      }
    }
  }
  if (!where.empty()) constraints.push_back({where, Place{"", 0, 0, "--where"}});
  return space::Space::create(std::move(parameters), std::move(constraints));
}

recording::Entry entry_from(const bench::Built& built, const Evidence& evidence, double baseline_ms) {
  Entry entry;
  entry.compile_ms = built.evidence.wall_ms;
  if (built.evidence.outcome != BuildEvidence::Outcome::ok) {
    const Reason fallback =
        built.evidence.outcome == BuildEvidence::Outcome::timed_out   ? Reason::build_timeout
        : built.evidence.outcome == BuildEvidence::Outcome::forbidden ? Reason::forbidden_flag
                                                                      : Reason::build_failed;
    fail_entry(entry, built.evidence.reason == Reason::none ? fallback : built.evidence.reason,
               built.evidence.detail);
    return entry;
  }
  // Check and race share their calls; what the whole took beyond the build is its benchmark.
  entry.bench_ms = evidence.wall_ms;
  // Whose word a time is stands in the case; it is a time all the same.
  if (evidence.rejection != Reason::none && evidence.rejection != Reason::self_reported) {
    fail_entry(entry, evidence.rejection, evidence.rejection_detail);
    return entry;
  }
  const double time_ms = baseline_ms * std::exp(evidence.log_ratio);
  if (!std::isfinite(time_ms) || time_ms <= 0) {
    fail_entry(entry, Reason::impossible_time, "the ratio to the baseline is no finite number");
    return entry;
  }
  entry.status = Outcome::ok;
  entry.time_ms = entry.value = time_ms;
  entry.samples_ms = samples_of(evidence, baseline_ms);
  return entry;
}

Result<RecordEnd> record_space(const RecordPlan& plan, bench::Bench& bench,
                               const std::function<void(const RecordProgress&)>& progress) {
  return Recorder(plan, bench, progress).run();
}

}  // namespace tunesmith::app
