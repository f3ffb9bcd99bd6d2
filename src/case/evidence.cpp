#include "case/evidence.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace tunesmith {

namespace {

constexpr std::array<std::pair<Comparison, const char*>, 4> k_comparisons{
    {{Comparison::faster, "faster"},
     {Comparison::slower, "slower"},
     {Comparison::same, "same"},
     {Comparison::ambiguous, "ambiguous"}}};

using Outcome = BuildEvidence::Outcome;
constexpr std::array<std::pair<Outcome, const char*>, 5> k_outcomes{{{Outcome::ok, "ok"},
                                                                     {Outcome::failed, "failed"},
                                                                     {Outcome::timed_out, "timed_out"},
                                                                     {Outcome::forbidden, "forbidden"},
                                                                     {Outcome::infra, "infra"}}};

/// JSON has no NaN and no infinity; null stands for both, and comes back as NaN.
json::value number(double value) { return std::isfinite(value) ? json::value(value) : json::value(nullptr); }

json::value texts(const std::vector<std::string>& list) {
  json::array array;
  for (const std::string& text : list) array.emplace_back(text);
  return array;
}

/// Reads fields of one object; the first fault is kept and the rest is skipped, so that a struct reads as a
/// list.
class Reader {
 public:
  explicit Reader(Node node) : m_node(std::move(node)) {
    if (!m_node.is_object()) m_fault = m_node.error("must be an object").value();
  }

  void read(std::string_view key, double& into) {
    take(key, [&](const Node& node) -> Status {
      if (node.value().is_null()) {
        into = std::numeric_limits<double>::quiet_NaN();
        return {};
      }
      TS_ASSIGN(into, node.as_double());
      return {};
    });
  }
  void read(std::string_view key, bool& into) {
    take(key, [&](const Node& node) -> Status {
      TS_ASSIGN(into, node.as_bool());
      return {};
    });
  }
  void read(std::string_view key, std::string& into) {
    take(key, [&](const Node& node) -> Status {
      TS_ASSIGN(into, node.as_string());
      return {};
    });
  }
  void read(std::string_view key, std::int64_t& into) {
    take(key, [&](const Node& node) -> Status {
      TS_ASSIGN(into, node.as_int());
      return {};
    });
  }
  void read(std::string_view key, int& into) {
    take(key, [&](const Node& node) -> Status {
      TS_ASSIGN(const std::int64_t wide, node.as_int());
      if (wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max())
        return node.error("is out of range");
      into = static_cast<int>(wide);
      return {};
    });
  }
  void read(std::string_view key, std::uint64_t& into) {
    take(key, [&](const Node& node) -> Status {
      if (node.value().is_uint64()) {
        into = node.value().get_uint64();
        return {};
      }
      TS_ASSIGN(const std::int64_t narrow, node.as_int());
      if (narrow < 0) return node.error("must not be negative");
      into = static_cast<std::uint64_t>(narrow);
      return {};
    });
  }
  void read(std::string_view key, Reason& into) {
    take(key, [&](const Node& node) -> Status {
      TS_ASSIGN(const std::string code, node.as_string());
      const std::optional<Reason> reason =
          code.empty() ? std::optional(Reason::none) : reason_from_code(code);
      if (!reason)
        return node.error(fmt::format("unknown reason code \"{}\"", code), "see docs/reason-codes.md");
      into = *reason;
      return {};
    });
  }
  template <class Enum, std::size_t N>
  void read(std::string_view key, Enum& into, const std::array<std::pair<Enum, const char*>, N>& names) {
    take(key, [&](const Node& node) -> Status {
      TS_ASSIGN(const std::string text, node.as_string());
      for (const auto& [value, name] : names) {
        if (text == name) {
          into = value;
          return {};
        }
      }
      return node.error(fmt::format("unknown value \"{}\"", text));
    });
  }
  template <class Visit>
  void take(std::string_view key, Visit visit) {
    if (m_fault) return;
    const std::optional<Node> node = m_node.find(key);
    if (!node) return;  // a field that an older file lacks keeps its default, which never passes a check
    if (Status status = visit(*node); !status) m_fault = std::move(status.error());
  }
  [[nodiscard]] Status finish() {
    if (m_fault) return tl::unexpected<Error>(std::move(*m_fault));
    return {};
  }

 private:
  Node m_node;
  std::optional<Error> m_fault;
};

json::object to_json(const BuildEvidence& build) {
  json::object out;
  out["outcome"] = k_outcomes[0].second;
  for (const auto& [value, name] : k_outcomes) {
    if (value == build.outcome) out["outcome"] = name;
  }
  out["reason"] = code_of(build.reason);
  out["detail"] = build.detail;
  out["log_path"] = build.log_path;
  out["log_excerpt"] = build.log_excerpt;
  out["identity"] = build.identity;
  out["library_sha256"] = build.library_sha256;
  out["compiler"] = build.compiler;
  out["flags"] = texts(build.flags);
  out["wall_ms"] = number(build.wall_ms);
  out["cpu_ms"] = number(build.cpu_ms);
  out["overhead_cpu_ms"] = number(build.overhead_cpu_ms);
  out["reused"] = build.reused;
  return out;
}

Status from_json(const Node& node, BuildEvidence& build) {
  Reader in(node);
  in.read("outcome", build.outcome, k_outcomes);
  in.read("reason", build.reason);
  in.read("detail", build.detail);
  in.read("log_path", build.log_path);
  in.read("log_excerpt", build.log_excerpt);
  in.read("identity", build.identity);
  in.read("library_sha256", build.library_sha256);
  in.read("compiler", build.compiler);
  in.take("flags", [&](const Node& flags) -> Status {
    TS_ASSIGN(build.flags, flags.as_strings());
    return {};
  });
  in.read("wall_ms", build.wall_ms);
  in.read("cpu_ms", build.cpu_ms);
  in.read("overhead_cpu_ms", build.overhead_cpu_ms);
  in.read("reused", build.reused);
  return in.finish();
}

json::object to_json(const CheckEvidence& check) {
  json::object out;
  out["planned"] = check.planned;
  out["executed"] = check.executed;
  out["max_abs_error"] = number(check.max_abs_error);
  out["max_rel_error"] = number(check.max_rel_error);
  out["worst_tile_error"] = number(check.worst_tile_error);
  out["worst_row_error"] = number(check.worst_row_error);
  out["bad_elements"] = check.bad_elements;
  out["passed"] = check.passed;
  return out;
}

Status from_json(const Node& node, CheckEvidence& check) {
  Reader in(node);
  in.read("planned", check.planned);
  in.read("executed", check.executed);
  in.read("max_abs_error", check.max_abs_error);
  in.read("max_rel_error", check.max_rel_error);
  in.read("worst_tile_error", check.worst_tile_error);
  in.read("worst_row_error", check.worst_row_error);
  in.read("bad_elements", check.bad_elements);
  in.read("passed", check.passed);
  return in.finish();
}

json::object to_json(const TimingEvidence& timing) {
  json::object out;
  out["pairs"] = timing.pairs;
  out["calls_per_sample"] = timing.calls_per_sample;
  out["latency_ms"] = number(timing.latency_ms);
  out["cpu_ms"] = number(timing.cpu_ms);
  out["incumbent_latency_ms"] = number(timing.incumbent_latency_ms);
  out["incumbent_cpu_ms"] = number(timing.incumbent_cpu_ms);
  out["log_ratio"] = number(timing.log_ratio);
  out["log_ratio_low"] = number(timing.log_ratio_low);
  out["log_ratio_high"] = number(timing.log_ratio_high);
  out["confidence"] = number(timing.confidence);
  out["comparison"] = name_of(timing.comparison);
  out["clock"] = timing.clock;
  out["mode"] = timing.mode;
  out["floor_ms"] = number(timing.floor_ms);
  out["idle_cpu_ms"] = number(timing.idle_cpu_ms);
  // One row a sample: hundreds of objects with four long keys each would be most of a journal.
  json::array samples;
  for (const PairSample& sample : timing.samples) {
    samples.emplace_back(json::array{number(sample.candidate_cpu_ms), number(sample.incumbent_cpu_ms),
                                     number(sample.candidate_wall_ms), number(sample.incumbent_wall_ms)});
  }
  out["samples"] = std::move(samples);
  return out;
}

Result<double> sample_number(const Node& node) {
  if (node.value().is_null()) return std::numeric_limits<double>::quiet_NaN();
  return node.as_double();
}

Status read_samples(const Node& node, std::vector<PairSample>& samples) {
  TS_ASSIGN(const auto rows, node.items());
  for (const Node& row : rows) {
    TS_ASSIGN(const auto cells, row.items());
    if (cells.size() != 4) {
      return row.error("must be [candidate_cpu_ms, incumbent_cpu_ms, candidate_wall_ms, incumbent_wall_ms]");
    }
    PairSample sample;
    TS_ASSIGN(sample.candidate_cpu_ms, sample_number(cells[0]));
    TS_ASSIGN(sample.incumbent_cpu_ms, sample_number(cells[1]));
    TS_ASSIGN(sample.candidate_wall_ms, sample_number(cells[2]));
    TS_ASSIGN(sample.incumbent_wall_ms, sample_number(cells[3]));
    samples.push_back(sample);
  }
  return {};
}

Status from_json(const Node& node, TimingEvidence& timing) {
  Reader in(node);
  in.read("pairs", timing.pairs);
  in.read("calls_per_sample", timing.calls_per_sample);
  in.read("latency_ms", timing.latency_ms);
  in.read("cpu_ms", timing.cpu_ms);
  in.read("incumbent_latency_ms", timing.incumbent_latency_ms);
  in.read("incumbent_cpu_ms", timing.incumbent_cpu_ms);
  in.read("log_ratio", timing.log_ratio);
  in.read("log_ratio_low", timing.log_ratio_low);
  in.read("log_ratio_high", timing.log_ratio_high);
  in.read("confidence", timing.confidence);
  in.read("comparison", timing.comparison, k_comparisons);
  in.read("clock", timing.clock);
  in.read("mode", timing.mode);
  in.read("floor_ms", timing.floor_ms);
  in.read("idle_cpu_ms", timing.idle_cpu_ms);
  in.take("samples", [&](const Node& samples) { return read_samples(samples, timing.samples); });
  return in.finish();
}

json::object to_json(const ShapeEvidence& shape) {
  json::object out;
  out["shape"] = shape.shape;
  out["weight"] = number(shape.weight);
  out["flops"] = number(shape.flops);
  out["bytes"] = number(shape.bytes);
  out["check"] = to_json(shape.check);
  out["timing"] = to_json(shape.timing);
  return out;
}

Status from_json(const Node& node, ShapeEvidence& shape) {
  Reader in(node);
  in.read("shape", shape.shape);
  in.read("weight", shape.weight);
  in.read("flops", shape.flops);
  in.read("bytes", shape.bytes);
  in.take("check", [&](const Node& check) { return from_json(check, shape.check); });
  in.take("timing", [&](const Node& timing) { return from_json(timing, shape.timing); });
  return in.finish();
}

}  // namespace

const char* name_of(Comparison comparison) {
  for (const auto& [value, name] : k_comparisons) {
    if (value == comparison) return name;
  }
  return "ambiguous";
}

json::object evidence_to_json(const Evidence& evidence) {
  json::object out;
  out["build"] = to_json(evidence.build);
  json::array shapes;
  for (const ShapeEvidence& shape : evidence.shapes) shapes.emplace_back(to_json(shape));
  out["shapes"] = std::move(shapes);
  out["rejection"] = code_of(evidence.rejection);
  out["rejection_detail"] = evidence.rejection_detail;
  out["log_ratio"] = number(evidence.log_ratio);
  out["comparison"] = name_of(evidence.comparison);
  out["log_ratio_to_baseline"] = number(evidence.log_ratio_to_baseline);
  out["peak_memory_bytes"] = evidence.peak_memory_bytes;
  out["isolation"] = evidence.isolation;
  out["machine"] = evidence.machine;
  out["seed"] = evidence.seed;
  out["load_average"] = number(evidence.load_average);
  out["overhead_cpu_ms"] = number(evidence.overhead_cpu_ms);
  out["wall_ms"] = number(evidence.wall_ms);
  out["self_reported"] = evidence.self_reported;
  out["infra"] = evidence.infra;
  out["confirmed"] = evidence.confirmed;
  return out;
}

Result<Evidence> evidence_from_json(const Node& node) {
  Evidence evidence;
  Reader in(node);
  in.take("build", [&](const Node& build) { return from_json(build, evidence.build); });
  in.take("shapes", [&](const Node& shapes) -> Status {
    TS_ASSIGN(const auto items, shapes.items());
    for (const Node& item : items) TS_TRY(from_json(item, evidence.shapes.emplace_back()));
    return {};
  });
  in.read("rejection", evidence.rejection);
  in.read("rejection_detail", evidence.rejection_detail);
  in.read("log_ratio", evidence.log_ratio);
  in.read("comparison", evidence.comparison, k_comparisons);
  in.read("log_ratio_to_baseline", evidence.log_ratio_to_baseline);
  in.read("peak_memory_bytes", evidence.peak_memory_bytes);
  in.read("isolation", evidence.isolation);
  in.read("machine", evidence.machine);
  in.read("seed", evidence.seed);
  in.read("load_average", evidence.load_average);
  in.read("overhead_cpu_ms", evidence.overhead_cpu_ms);
  in.read("wall_ms", evidence.wall_ms);
  in.read("self_reported", evidence.self_reported);
  in.read("infra", evidence.infra);
  in.read("confirmed", evidence.confirmed);
  TS_TRY(in.finish());
  return evidence;
}

}  // namespace tunesmith
