// `verify --against BASE`: has a kernel become slower than a result that somebody keeps?
// Absolute times of shared machines flip by 20 % from hour to hour. Where both results carry the speed-up
// over the same baseline (paired, interleaved), that is compared; latencies only where they do not.
#pragma once

#include <string>

#include "base/json.h"

namespace tunesmith::app {

struct Regression {
  bool comparable = false;
  bool regressed = false;
  std::string figure;  ///< "speedup" or "latency_ms"
  double now = 0, base = 0;
  double slower_percent = 0;  ///< > 0: slower than the base
  std::string message;
  [[nodiscard]] json::object to_json() const;
};

[[nodiscard]] Regression compare_results(const json::object& now, const json::object& base,
                                         double allowed_percent);

}  // namespace tunesmith::app
