// A candidate's result against a kept one, shape by shape: regressions in CI.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace tunesmith::tune {

struct ShapeComparison {
  std::string shape;
  double now = 0, base = 0;    ///< of `figure`
  double slower_percent = 0;   ///< negative: faster
  double allowed_percent = 0;  ///< the threshold plus what both results' own spread explains
  bool regressed = false;
};

struct ResultComparison {
  bool comparable = false;
  bool regressed = false;
  std::string figure;  ///< "speedup" (paired against the same baseline on the same machine) or "latency_ms"
  std::vector<ShapeComparison> shapes;
  std::string message;  ///< one line
  [[nodiscard]] json::object to_json() const;
};

/// A shape that the base has and the result lacks is a failure, never a pass. Absolute times of shared
/// machines swing; where both results are paired against the same baseline on the same machine, their
/// speedups are compared instead.
[[nodiscard]] ResultComparison compare_results(const json::object& now, const json::object& base,
                                               double allowed_percent);

}  // namespace tunesmith::tune
