#include "app/numbers.h"

#include <fmt/format.h>

#include <cmath>

namespace tunesmith::app {

std::string ms_text(double ms) {
  if (!std::isfinite(ms) || ms <= 0) return "-";
  if (ms >= 1000) return fmt::format("{:.3f} s", ms / 1000);
  if (ms >= 1) return fmt::format("{:.3f} ms", ms);
  if (ms >= 1e-3) return fmt::format("{:.2f} us", ms * 1e3);
  return fmt::format("{:.1f} ns", ms * 1e6);
}

std::string times_text(double ratio) { return std::isfinite(ratio) ? fmt::format("{:.2f}x", ratio) : "-"; }

std::string percent_text(double fraction) {
  return std::isfinite(fraction) && fraction > 0 ? fmt::format("{:.1f} %", fraction * 100) : "-";
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes >= (1ULL << 30)) return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1ULL << 30));
  if (bytes >= (1ULL << 20)) return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1ULL << 20));
  if (bytes >= (1ULL << 10)) return fmt::format("{:.0f} KiB", static_cast<double>(bytes) / (1ULL << 10));
  return fmt::format("{} B", bytes);
}

double speedup_of(double log_ratio) { return std::exp(-log_ratio); }

}  // namespace tunesmith::app
