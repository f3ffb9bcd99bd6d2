// Bars and sparklines of Unicode blocks: pure functions from numbers to strings.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace tunesmith::term {

/// Exactly `columns` wide: eighths of a block fill up to `part` (cut to 0 … 1; NaN counts as 0), the rest is
/// light shade. Full only when part is 1. Without `utf8` it is made of # and -.
[[nodiscard]] std::string bar(double part, std::size_t columns, bool utf8 = true);
/// One block a value from the lowest to the highest; a value that is not finite is a space. At most `columns`
/// wide: the latest values are shown.
[[nodiscard]] std::string sparkline(std::span<const double> values, std::size_t columns);

}  // namespace tunesmith::term
