// Numbers as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace tunesmith::app {

[[nodiscard]] std::string ms_text(double ms);             ///< "1.234 ms", "56.7 us", "-" when not finite or 0
[[nodiscard]] std::string times_text(double ratio);       ///< "1.83x"
[[nodiscard]] std::string percent_text(double fraction);  ///< 0.873 -> "87.3 %"; "-" when unknown (0)
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);  ///< "512 KiB"
/// exp(-log ratio): how many times faster than the baseline.
[[nodiscard]] double speedup_of(double log_ratio);

}  // namespace tunesmith::app
