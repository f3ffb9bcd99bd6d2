// Time: a monotonic clock for measuring, a calendar clock for records.
#pragma once

#include <cstdint>
#include <string>

namespace tunesmith {

[[nodiscard]] std::int64_t monotonic_ns();
[[nodiscard]] std::string utc_now();                      ///< "2026-11-01T12:34:56Z"
[[nodiscard]] std::string utc_compact();                  ///< "20261101-123456", for names of runs
[[nodiscard]] std::string duration_text(double seconds);  ///< "1 h 02 min", "3 min 20 s", "4.2 s"

/// The injected seam: tests advance it by hand.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual std::int64_t now_ns() const { return monotonic_ns(); }
};

}  // namespace tunesmith
