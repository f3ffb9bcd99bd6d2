#include "tune/compare.h"

#include <cmath>
#include <map>
#include <optional>

namespace tunesmith::tune {

namespace {

struct Figure {
  double latency_ms = 0;
  double spread_percent = 0;
};

std::optional<double> positive(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  const double number = value->to_number<double>();
  return std::isfinite(number) && number > 0 ? std::optional<double>(number) : std::nullopt;
}

std::string name_of_shape(const json::object& object) {
  const json::value* shape = object.if_contains("shape");
  if (shape == nullptr) return {};
  return shape->is_string() ? std::string(shape->get_string()) : print_json_compact(*shape);
}

/// The entries under "shapes", or the result itself when there are none. A shape without a usable time is
/// left out.
std::map<std::string, Figure> figures_by_shape(const json::object& result) {
  std::map<std::string, Figure> figures;
  const auto add = [&](const json::object& entry) {
    const auto latency = positive(entry, "latency_ms");
    if (latency) figures[name_of_shape(entry)] = {*latency, positive(entry, "spread_percent").value_or(0)};
  };
  const json::value* shapes = result.if_contains("shapes");
  if (shapes == nullptr || !shapes->is_array() || shapes->get_array().empty()) {
    add(result);
    return figures;
  }
  for (const json::value& entry : shapes->get_array()) {
    if (entry.is_object()) add(entry.get_object());
  }
  return figures;
}

bool differ(const json::object& a, const json::object& b, std::string_view key) {
  const json::value* left = a.if_contains(key);
  const json::value* right = b.if_contains(key);
  return left != nullptr && right != nullptr && *left != *right;
}

bool same(const json::object& a, const json::object& b, std::string_view key) {
  const json::value* left = a.if_contains(key);
  const json::value* right = b.if_contains(key);
  return left != nullptr && right != nullptr && *left == *right;
}

void judge_shape(ResultComparison& out, ShapeComparison row) {
  row.regressed = !(row.slower_percent <= row.allowed_percent);
  out.regressed = out.regressed || row.regressed;
  out.shapes.push_back(std::move(row));
}

}  // namespace

ResultComparison compare_results(const json::object& now, const json::object& base, double allowed_percent) {
  ResultComparison out;
  for (const char* key : {"case", "dtype"}) {
    if (!differ(now, base, key)) continue;
    out.message = fmt::format("the two results are of another {}: nothing to compare", key);
    return out;
  }
  const auto mine = figures_by_shape(now);
  const auto theirs = figures_by_shape(base);
  if (theirs.empty()) {
    out.message = "the base has no shape with a latency_ms above 0: nothing to compare";
    return out;
  }
  for (const auto& [shape, figure] : theirs) {
    if (mine.contains(shape)) continue;
    out.message =
        fmt::format("shape {} is in the base and missing in the result", shape.empty() ? "(unnamed)" : shape);
    return out;
  }
  out.comparable = true;
  const auto speedup_now = positive(now, "speedup");
  const auto speedup_base = positive(base, "speedup");
  const bool paired =
      speedup_now && speedup_base && same(now, base, "baseline") && same(now, base, "machine");
  out.figure = paired ? "speedup" : "latency_ms";
  if (paired) {
    // The whole by its paired figure; the shapes' absolute times would bring the machine's swings back in.
    double spread = 0;
    for (const auto& [shape, figure] : theirs)
      spread = std::max(spread, figure.spread_percent + mine.at(shape).spread_percent);
    judge_shape(out, {"all", *speedup_now, *speedup_base, (*speedup_base / *speedup_now - 1) * 100,
                      allowed_percent + spread, false});
  } else {
    for (const auto& [shape, figure] : theirs) {
      const Figure& own = mine.at(shape);
      judge_shape(out,
                  {shape, own.latency_ms, figure.latency_ms, (own.latency_ms / figure.latency_ms - 1) * 100,
                   allowed_percent + figure.spread_percent + own.spread_percent, false});
    }
  }
  const auto worst = std::max_element(out.shapes.begin(), out.shapes.end(), [](const auto& a, const auto& b) {
    return a.slower_percent - a.allowed_percent < b.slower_percent - b.allowed_percent;
  });
  out.message = fmt::format("{}{}: {} {:.4g} against {:.4g} in the base, {:.1f} % {} ({:.1f} % allowed)",
                            out.regressed ? "regression on " : "shape ", worst->shape, out.figure, worst->now,
                            worst->base, std::fabs(worst->slower_percent),
                            worst->slower_percent > 0 ? "slower" : "faster", worst->allowed_percent);
  return out;
}

json::object ResultComparison::to_json() const {
  json::array rows;
  for (const ShapeComparison& s : shapes) {
    rows.push_back(json::object{{"shape", s.shape},
                                {"now", s.now},
                                {"base", s.base},
                                {"slower_percent", s.slower_percent},
                                {"allowed_percent", s.allowed_percent},
                                {"regressed", s.regressed}});
  }
  return {{"comparable", comparable},
          {"regressed", regressed},
          {"figure", figure},
          {"message", message},
          {"shapes", std::move(rows)}};
}

}  // namespace tunesmith::tune
