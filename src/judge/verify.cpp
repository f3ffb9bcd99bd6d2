#include <cmath>
#include <limits>

#include "base/text.h"
#include "judge/figure_table.h"
#include "judge/judge.h"
#include "judge/shape_text.h"
#include "stats/descriptive.h"

namespace tunesmith::judge {

namespace {

/// Reported and recomputed throughput may differ by rounding, no more.
constexpr double k_tflops_agreement = 0.01;

/// Collects failures about one result object; `prefix` says which part of the result it is.
class Examiner {
 public:
  Examiner(const json::object& object, std::string prefix, std::vector<GateFailure>& failures)
      : m_object(object), m_prefix(std::move(prefix)), m_failures(failures) {}

  void add(Reason reason, std::string_view figure, std::string message) {
    m_failures.push_back({reason, std::string(figure), m_prefix + std::move(message)});
  }

  /// A number, or nothing and (when `required`, or when something else stands there) a failure.
  std::optional<double> number(std::string_view key, bool required, bool boolean = false) {
    const json::value* value = m_object.if_contains(key);
    if (value == nullptr || value->is_null()) {
      if (required) add(Reason::missing_evidence, key, fmt::format("{} is missing", key));
      return std::nullopt;
    }
    if (boolean && value->is_bool()) return value->get_bool() ? 1.0 : 0.0;
    if (!value->is_number() || boolean) {
      add(Reason::missing_evidence, key,
          fmt::format("{} must be {}, not {}", key, boolean ? "true or false" : "a number",
                      cut(print_json_compact(*value), 60)));
      return std::nullopt;
    }
    const double number = value->to_number<double>();
    if (!std::isfinite(number)) {
      add(key == "latency_ms" ? Reason::impossible_time : Reason::missing_evidence, key,
          fmt::format("{} is not finite", key));
      return std::nullopt;
    }
    return number;
  }

  [[nodiscard]] const json::object& object() const { return m_object; }
  [[nodiscard]] std::vector<GateFailure>& failures() const { return m_failures; }

 private:
  const json::object& m_object;
  std::string m_prefix;
  std::vector<GateFailure>& m_failures;
};

std::string text_of(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

void check_figure(Examiner& examiner, const Requirement& r, const VerifyOptions& options) {
  const FigureInfo* info = find_figure(r.figure);
  const auto value = examiner.number(r.figure, r.need == Need::required, info != nullptr && info->boolean);
  if (!value) return;
  if (r.figure == "latency_ms" && !(*value > 0)) {
    examiner.add(Reason::impossible_time, r.figure,
                 fmt::format("latency_ms {} cannot be: a time is above 0", *value));
    return;
  }
  if (*value < 0 && r.figure != "rollbacks") {
    const Reason reason = r.figure == "tflops" ? Reason::impossible_time : Reason::missing_evidence;
    examiner.add(reason, r.figure, fmt::format("{} {} cannot be below 0", r.figure, *value));
    return;
  }
  if (r.figure == "max_abs_error") {
    const std::optional<double> tol = options.tol ? options.tol : r.at_most;
    if (tol && !(*value <= *tol)) {
      examiner.add(r.reason, r.figure,
                   fmt::format("max_abs_error {} is above the tolerance {}", *value, *tol));
    }
    return;
  }
  if (r.figure == "compile_fail" && r.at_most && !(*value <= *r.at_most)) {
    examiner.add(r.reason, r.figure, fmt::format("compile_fail {}: a build that failed is refused", *value));
    return;
  }
  if (r.at_most && !(*value <= *r.at_most)) {
    examiner.add(r.reason, r.figure,
                 fmt::format("{} {} is above the limit of {}", r.figure, *value, *r.at_most));
  }
  if (r.at_least && !(*value >= *r.at_least)) {
    examiner.add(r.reason, r.figure,
                 fmt::format("{} {} is below the least of {}", r.figure, *value, *r.at_least));
  }
}

/// The gate's floor; the result's own min_tflops may raise it and never lower it.
void check_floor(Examiner& examiner, const Gate& gate, const VerifyOptions& options) {
  const json::object& result = examiner.object();
  const std::string device = options.device.empty() ? text_of(result, "machine") : options.device;
  const json::value* shape = result.if_contains("shape");
  const std::string label = shape == nullptr ? "" : shape_label(*shape);
  std::vector<const Shape*> shapes;
  if (options.c != nullptr && shape != nullptr) shapes = shapes_named(*options.c, *shape);
  const std::string baseline = options.c != nullptr ? options.c->baseline.label : text_of(result, "baseline");
  double floor = 0;
  for (const Floor& f : gate.floors) {
    // A device or baseline that the result does not name cannot excuse it from a floor.
    if (!f.device.empty() && !device.empty() && device.find(f.device) == std::string::npos) continue;
    if (!f.baseline.empty() && !baseline.empty() && f.baseline != baseline) continue;
    const bool named =
        f.shape.empty() || f.shape == label ||
        std::any_of(shapes.begin(), shapes.end(), [&](const Shape* s) { return s->name == f.shape; });
    if (named) floor = std::max(floor, f.min_tflops);
  }
  if (const auto own = examiner.number("min_tflops", false)) floor = std::max(floor, *own);
  const json::value* tflops = result.if_contains("tflops");
  if (tflops == nullptr || !tflops->is_number()) return;  // reported already
  const double value = tflops->to_number<double>();
  if (!(value >= floor)) {
    examiner.add(Reason::below_floor, "tflops",
                 fmt::format("tflops {} is below the floor of {}", value, floor));
  }
}

/// What the case itself knows: shapes, work, the least possible time.
void check_against_case(Examiner& examiner, const VerifyOptions& options, bool whole) {
  const Case& c = *options.c;
  const json::object& result = examiner.object();
  const json::value* shape = result.if_contains("shape");
  if (shape == nullptr) {
    examiner.add(Reason::missing_evidence, "shape", "shape is missing");
    return;
  }
  const std::vector<const Shape*> shapes = shapes_named(c, *shape);
  if (shapes.empty()) {
    examiner.add(Reason::missing_evidence, "shape",
                 fmt::format("shape {} is none of the case's", shape_label(*shape)));
    return;
  }
  const json::value* latency_value = result.if_contains("latency_ms");
  if (latency_value == nullptr || !latency_value->is_number()) return;
  const double latency_ms = latency_value->to_number<double>();
  if (!std::isfinite(latency_ms) || !(latency_ms > 0)) return;
  std::vector<double> flops;
  std::vector<double> floors;
  std::vector<double> weights;
  for (const Shape* s : shapes) {
    const auto work = flops_of(c, *s);
    if (!work) {
      examiner.add(Reason::missing_evidence, "tflops",
                   "the work formula cannot be computed: " + work.error().message);
      return;
    }
    flops.push_back(*work);
    floors.push_back(options.floor_of ? options.floor_of(*s) : 0);
    weights.push_back(s->weight);
  }
  const auto all_positive = [](const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double v) { return v > 0; });
  };
  const json::value* tflops_value = result.if_contains("tflops");
  if (all_positive(flops) && tflops_value != nullptr && tflops_value->is_number()) {
    const double work = stats::weighted_geometric_mean(flops, weights);
    const double due = tflops_of(work, latency_ms);
    const double reported = tflops_value->to_number<double>();
    if (!(std::fabs(reported - due) <= k_tflops_agreement * due)) {
      examiner.add(Reason::impossible_time, "tflops",
                   fmt::format("tflops {:.6g} does not follow from the case's work: {:.4g} TFLOP in {:.6g} "
                               "ms would be {:.5g} tflops",
                               reported, work / 1e12, latency_ms, due));
    }
  }
  double floor_ms = whole ? options.floor_ms : 0;
  if (all_positive(floors)) floor_ms = std::max(floor_ms, stats::weighted_geometric_mean(floors, weights));
  if (floor_ms > 0 && latency_ms < floor_ms) {
    examiner.add(Reason::impossible_time, "latency_ms",
                 fmt::format("latency_ms {:.6g} is faster than the speed of light of this machine, {:.6g} ms",
                             latency_ms, floor_ms));
  }
}

/// What our own bench has written about the candidate beyond the article's fields.
void check_provenance(Examiner& examiner, const VerifyOptions& options) {
  const json::object& result = examiner.object();
  const auto reason = reason_from_code(text_of(result, "reason"));
  const auto harmless = [](Reason r) {
    return r == Reason::none || r == Reason::not_faster || r == Reason::no_effect || r == Reason::ambiguous ||
           r == Reason::self_reported;
  };
  if (reason && !harmless(*reason)) {
    const std::string detail = text_of(result, "detail");
    examiner.add(*reason, "reason",
                 fmt::format("the bench refused it: {}",
                             detail.empty() ? code_of(*reason) : cut(printable(detail), 200)));
  }
  const json::value* checks = result.if_contains("checks");
  if (checks != nullptr && checks->is_object()) {
    Examiner inner(checks->get_object(), "checks: ", examiner.failures());
    const auto planned = inner.number("planned", true);
    const auto executed = inner.number("executed", true);
    if (planned && executed && (!(*planned > 0) || *executed < *planned)) {
      inner.add(Reason::missing_evidence, "checks",
                fmt::format("{} of {} were executed", *executed, *planned));
    }
  }
  const std::string name = text_of(result, "case");
  if (options.c != nullptr && !name.empty() && name != options.c->name) {
    examiner.add(
        Reason::missing_evidence, "case",
        fmt::format("the result is of case {}, not of {}", cut(printable(name), 80), options.c->name));
  }
}

void check_shapes(const json::object& result, const Gate& gate, const VerifyOptions& options,
                  std::vector<GateFailure>& failures) {
  const json::value* shapes = result.if_contains("shapes");
  if (shapes == nullptr) return;
  if (!shapes->is_array()) {
    failures.push_back({Reason::missing_evidence, "shapes", "shapes must be an array"});
    return;
  }
  for (std::size_t i = 0; i < shapes->get_array().size(); ++i) {
    const json::value& entry = shapes->get_array()[i];
    if (!entry.is_object()) {
      failures.push_back(
          {Reason::missing_evidence, "shapes", fmt::format("shapes[{}] must be an object", i)});
      continue;
    }
    const json::value* name = entry.get_object().if_contains("shape");
    Examiner examiner(entry.get_object(),
                      fmt::format("shape {}: ", name == nullptr ? std::to_string(i) : shape_label(*name)),
                      failures);
    for (const Requirement& r : gate.requirements) {
      if (r.figure != "max_abs_error" && r.figure != "latency_ms" && r.figure != "tflops") continue;
      check_figure(examiner, r, options);
    }
    if (!gate.floors.empty()) check_floor(examiner, gate, options);
    if (options.c != nullptr) check_against_case(examiner, options, false);
  }
}

}  // namespace

VerifyAnswer verify(const Node& result, const Gate& gate, const VerifyOptions& options) {
  VerifyAnswer answer;
  if (!result.is_object()) {
    answer.failures.push_back({Reason::missing_evidence, "", "a result is a JSON object"});
  } else {
    const json::object& object = result.value().get_object();
    Examiner examiner(object, "", answer.failures);
    // The cause before the symptom: a failed build explains why there is no latency.
    for (const Requirement& r : gate.requirements) {
      if (r.figure == "compile_fail") check_figure(examiner, r, options);
    }
    for (const Requirement& r : gate.requirements) {
      if (r.figure != "compile_fail") check_figure(examiner, r, options);
    }
    check_floor(examiner, gate, options);
    if (options.c != nullptr) check_against_case(examiner, options, true);
    check_shapes(object, gate, options, answer.failures);
    check_provenance(examiner, options);
  }
  answer.ok = answer.failures.empty();
  answer.message = answer.ok ? "pass" : answer.failures.front().message;
  return answer;
}

json::object VerifyAnswer::to_json() const {
  json::array reasons;
  json::array list;
  for (const GateFailure& failure : failures) {
    const std::string_view code = code_of(failure.reason);
    const bool known = std::any_of(reasons.begin(), reasons.end(),
                                   [&](const json::value& v) { return v.get_string() == code; });
    if (!known) reasons.emplace_back(code);
    list.push_back(json::object{{"reason", code}, {"figure", failure.figure}, {"message", failure.message}});
  }
  return {{"ok", ok}, {"message", message}, {"reasons", std::move(reasons)}, {"failures", std::move(list)}};
}

Figures figures_of(const json::object& result) {
  const auto number = [&](std::string_view key) -> std::optional<double> {
    const json::value* value = result.if_contains(key);
    if (value == nullptr || !value->is_number()) return std::nullopt;
    return value->to_number<double>();
  };
  Figures figures;
  figures.latency_ms = number("latency_ms");
  figures.tflops = number("tflops");
  figures.max_abs_error = number("max_abs_error");
  figures.max_rel_error = number("max_rel_error");
  figures.peak_memory_bytes = number("peak_memory_bytes");
  figures.compile_fail = number("compile_fail").value_or(0);
  figures.rollbacks = number("rollbacks").value_or(0);
  return figures;
}

}  // namespace tunesmith::judge
