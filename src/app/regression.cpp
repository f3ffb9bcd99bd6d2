#include "app/regression.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

namespace tunesmith::app {

namespace {

std::optional<double> positive(const json::object& result, const char* key) {
  const json::value* value = result.if_contains(key);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  const double number = value->to_number<double>();
  if (!std::isfinite(number) || number <= 0) return std::nullopt;
  return number;
}

/// Equal when both say the same; a key that either lacks says nothing.
bool differ(const json::object& a, const json::object& b, const char* key) {
  const json::value* left = a.if_contains(key);
  const json::value* right = b.if_contains(key);
  return left != nullptr && right != nullptr && *left != *right;
}

bool same(const json::object& a, const json::object& b, const char* key) {
  const json::value* left = a.if_contains(key);
  const json::value* right = b.if_contains(key);
  return left != nullptr && right != nullptr && *left == *right;
}

}  // namespace

json::object Regression::to_json() const {
  json::object out;
  out["comparable"] = comparable;
  out["regressed"] = regressed;
  out["figure"] = figure;
  out["now"] = now;
  out["base"] = base;
  out["slower_percent"] = slower_percent;
  out["message"] = message;
  return out;
}

Regression compare_results(const json::object& now, const json::object& base, double allowed_percent) {
  Regression out;
  for (const char* key : {"case", "shape", "dtype"}) {
    if (differ(now, base, key)) {
      out.message = fmt::format("the two results are of another {}: nothing to compare", key);
      return out;
    }
  }
  const auto speedup_now = positive(now, "speedup");
  const auto speedup_base = positive(base, "speedup");
  if (speedup_now && speedup_base && same(now, base, "baseline") && same(now, base, "machine")) {
    out.figure = "speedup";
    out.now = *speedup_now;
    out.base = *speedup_base;
    out.slower_percent = (*speedup_base / *speedup_now - 1) * 100;
  } else {
    const auto latency_now = positive(now, "latency_ms");
    const auto latency_base = positive(base, "latency_ms");
    if (!latency_now || !latency_base) {
      out.message = "a result without a latency_ms above 0 cannot be compared";
      return out;
    }
    out.figure = "latency_ms";
    out.now = *latency_now;
    out.base = *latency_base;
    out.slower_percent = (*latency_now / *latency_base - 1) * 100;
  }
  out.comparable = true;
  out.regressed = !(out.slower_percent <= allowed_percent);
  out.message =
      fmt::format("{} {:.4g} against {:.4g} in the base: {:.1f} % {}{}", out.figure, out.now, out.base,
                  std::abs(out.slower_percent), out.slower_percent > 0 ? "slower" : "faster",
                  out.regressed ? fmt::format(", more than the {:.3g} % allowed", allowed_percent) : "");
  return out;
}

}  // namespace tunesmith::app
