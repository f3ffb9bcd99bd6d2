#include "base/clock.h"

#include <fmt/format.h>

#include <ctime>

namespace tunesmith {

namespace {

std::string utc(const char* pattern) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char buffer[64];
  return {buffer, std::strftime(buffer, sizeof buffer, pattern, &parts)};
}

}  // namespace

std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

std::string utc_now() { return utc("%Y-%m-%dT%H:%M:%SZ"); }
std::string utc_compact() { return utc("%Y%m%d-%H%M%S"); }

std::string duration_text(double seconds) {
  // A hundred years is no duration but a division by almost nothing.
  if (!(seconds >= 0 && seconds < 3.2e9)) return "unknown";
  if (seconds < 59.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(seconds + 0.5);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace tunesmith
