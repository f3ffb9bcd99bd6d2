#include "term/progress.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tunesmith::term {

namespace {

constexpr std::array<const char*, 9> k_eighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
constexpr std::array<const char*, 8> k_heights{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

}  // namespace

std::string bar(double part, std::size_t columns, bool utf8) {
  if (!(part > 0)) part = 0;
  part = std::min(part, 1.0);
  const std::size_t steps = columns * (utf8 ? 8 : 1);
  // Rounded down: a bar that looks full before the end lies.
  const auto filled = static_cast<std::size_t>(part * static_cast<double>(steps));
  std::string out;
  if (!utf8) return std::string(filled, '#') + std::string(columns - filled, '-');
  std::size_t used = filled / 8;
  for (std::size_t i = 0; i < used; ++i) out += k_eighths[8];
  if (filled % 8 > 0) {
    out += k_eighths[filled % 8];
    ++used;
  }
  for (; used < columns; ++used) out += "░";
  return out;
}

std::string sparkline(std::span<const double> values, std::size_t columns) {
  if (values.size() > columns) values = values.last(columns);
  double low = HUGE_VAL;
  double high = -HUGE_VAL;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  std::string out;
  for (const double value : values) {
    if (!std::isfinite(value)) {
      out += ' ';
      continue;
    }
    // Halves first: high - low of huge values may overflow.
    const double span = high / 2 - low / 2;
    const double height = span > 0 ? (value / 2 - low / 2) / span : 0;
    out += k_heights[std::min<std::size_t>(7, static_cast<std::size_t>(height * 8))];
  }
  return out;
}

}  // namespace tunesmith::term
