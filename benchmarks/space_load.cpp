// How long a space takes to make and how much memory that takes: recorded spaces given by path, and made ones
// of a thousand million points of which few are legal. Each in a process of its own, so that one's memory is
// not the next one's.
//   space_load [--hard] [RECORDING…]
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "recording/recording.h"

namespace tunesmith {
namespace {

constexpr int k_rounds = 9;

struct Made {
  std::vector<space::Parameter> parameters;
  std::vector<space::Space::Constraint> constraints;
};

space::Parameter digits(int index, int values, const std::function<std::int64_t(int)>& value) {
  space::Parameter parameter{fmt::format("p{}", index), {}};
  for (int v = 0; v < values; ++v) parameter.values.emplace_back(value(v));
  return parameter;
}

Made made(const std::vector<std::string>& constraints, const std::function<std::int64_t(int)>& value) {
  Made out;
  for (int i = 0; i < 9; ++i) out.parameters.push_back(digits(i, 10, value));
  for (const std::string& text : constraints) out.constraints.push_back({text, {}});
  return out;
}

/// Nine parameters of ten values: 10^9 points.
std::vector<std::pair<std::string, Made>> made_spaces() {
  const auto plain = [](int v) { return std::int64_t{v}; };
  const auto power = [](int v) { return std::int64_t{1} << v; };
  return {
      {"five equations, 10^4 legal",
       made({"p4 == (p0 + p1) % 10", "p5 == (p1 * 3 + p2) % 10", "p6 == (p2 + 7 * p3) % 10",
             "p7 == (p0 * p3 + p4) % 10", "p8 == (p5 + p6 + p7) % 10"},
            plain)},
      {"equations between the first and the last",
       made({"p8 == p0", "p7 == p1", "p6 == p2", "p5 == p3", "p4 == (p0 + p1 + p2 + p3) % 10"}, plain)},
      {"products of powers of two",
       made({"p0 * p1 * p2 * p3 * p4 * p5 * p6 * p7 * p8 <= 64", "p0 * p1 >= 4", "p8 % p0 == 0"}, power)},
      {"one sum over all of them", made({"p0 + p1 + p2 + p3 + p4 + p5 + p6 + p7 + p8 <= 8"}, plain)},
  };
}

/// Hardly two of its partial sums agree, so there is nothing to merge: half a minute, where the others take
/// part of a second.
std::pair<std::string, Made> hard_space() {
  return {
      "one remainder over all of them, about 10^4 legal",
      made({"(p0 * 48611 + p1 * 75011 + p2 * 12983 + p3 * 95111 + p4 * 33023 + p5 * 60013 + p6 * 7919 + p7 "
            "* 84131 "
            "+ p8 * 21701) % 100003 == 17"},
           [](int v) { return std::int64_t{v}; })};
}

void measure(const std::string& name, const Made& from) {
  const std::int64_t begin = monotonic_ns();
  const auto space = space::Space::create(from.parameters, from.constraints);
  double best = static_cast<double>(monotonic_ns() - begin) / 1e6;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  for (int round = 1; round < k_rounds && best < 200; ++round) {
    const std::int64_t again = monotonic_ns();
    const auto other = space::Space::create(from.parameters, from.constraints);
    best = std::min(best, static_cast<double>(monotonic_ns() - again) / 1e6);
  }
  fmt::print("{:<52} {:>10.0f} points {:>9} legal {:>9.2f} ms {:>6} MB\n", name,
             space ? space->cartesian() : 0.0, space ? std::to_string(space->count()) : "none", best,
             usage.ru_maxrss / 1024);
  if (!space) fmt::print("  {}\n", space.error().line());
  std::fflush(stdout);
}

void apart(const std::function<void()>& work) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    work();
    std::fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
}

}  // namespace
}  // namespace tunesmith

int main(int count, char** words) {
  using namespace tunesmith;
  bool hard = false;
  for (int i = 1; i < count; ++i) {
    if (std::string(words[i]) == "--hard") {
      hard = true;
      continue;
    }
    apart([&] {
      const std::int64_t begin = monotonic_ns();
      const auto recording = recording::read_recording(words[i]);
      const double whole = static_cast<double>(monotonic_ns() - begin) / 1e6;
      if (!recording) return fmt::print("{}\n", recording.error().line());
      measure(recording->name, {recording->space.parameters(), recording->space.constraints()});
      fmt::print("  read whole, with its {} entries, in {:.1f} ms\n", recording->entries.size(), whole);
    });
  }
  for (const auto& [name, from] : made_spaces()) apart([&] { measure(name, from); });
  if (hard) {
    const auto [name, from] = hard_space();
    apart([&, n = name, m = from] { measure(n, m); });
  }
  return 0;
}
