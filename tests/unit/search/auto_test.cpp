#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "search/strategy.h"

namespace tunesmith::search {
namespace {

using space::Config;
using space::Space;
using space::Value;

/// Like a tiled kernel: 8 parameters, half of the product illegal, some points that fail.
Space kernel_like() {
  const auto powers = [](int low, int high) {
    std::vector<Value> list;
    for (int e = low; e <= high; ++e) list.emplace_back(std::int64_t{1} << e);
    return list;
  };
  const std::vector<Value> flag = {Value(false), Value(true)};
  auto space = Space::create(
      {{"bm", powers(3, 8)},
       {"bn", powers(3, 8)},
       {"bk", powers(2, 6)},
       {"tm", powers(0, 3)},
       {"tn", powers(0, 3)},
       {"order", {Value(std::string("mnk")), Value(std::string("nmk")), Value(std::string("kmn"))}},
       {"pack", flag},
       {"prefetch", flag}},
      {{"bm * bn <= 16384", {}}, {"bm % (tm * 4) == 0 and bn % (tn * 4) == 0", {}}});
  EXPECT_TRUE(space);
  return *space;
}

double number(const Space& space, const Config& config, std::size_t parameter) {
  return *space::number_of(space.value(config, parameter));
}

/// Log time with one optimum away from every edge, interactions, and ripples that make local minima.
double smooth(const Space& space, const Config& config) {
  const double bm = std::log2(number(space, config, 0));
  const double bn = std::log2(number(space, config, 1));
  const double bk = std::log2(number(space, config, 2));
  const double area = std::log2(number(space, config, 3)) + std::log2(number(space, config, 4));
  double time =
      0.08 * std::pow(bm + bn - 11, 2) + 0.05 * std::pow(bm - bn - 1, 2) + 0.06 * std::pow(bk - 4, 2);
  time += 0.09 * std::pow(area - 4, 2) + (config.at[5] == 1 ? 0 : 0.15);
  time += config.at[6] == (bk > 3 ? 1U : 0U) ? 0 : 0.1;
  return time + 0.02 * static_cast<double>(
                           (config.at[0] * 7 + config.at[1] * 5 + config.at[2] * 3 + config.at[7]) % 5);
}

double rugged(const Space& space, const Config& config) {
  double time = smooth(space, config);
  std::uint32_t mix = 17;
  for (const std::uint32_t value : config.at) mix = mix * 31 + value * 7;
  return time + 0.25 * static_cast<double>(mix % 17) / 16;
}

bool fails(const Space& space, const Config& config) {
  return number(space, config, 3) * number(space, config, 4) > 32 || (config.at[5] == 2 && config.at[6] == 1);
}

double best_after(const Space& space, std::string_view name, std::uint64_t seed, std::uint64_t budget,
                  const std::function<double(const Space&, const Config&)>& time, bool failures) {
  const auto strategy = std::move(*make_strategy(name, space, seed, {budget}));
  double best = std::numeric_limits<double>::infinity();
  for (std::uint64_t i = 0; i < budget; ++i) {
    const Config config = strategy->ask(1).at(0);
    const bool valid = !failures || !fails(space, config);
    const double value = time(space, config);
    if (valid) best = std::min(best, value);
    strategy->tell({config, valid, valid ? value : 0});
  }
  return best;
}

double median_after(const Space& space, std::string_view name, std::uint64_t budget,
                    const std::function<double(const Space&, const Config&)>& time, bool failures) {
  std::vector<double> found;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    found.push_back(best_after(space, name, seed, budget, time, failures));
  std::sort(found.begin(), found.end());
  return (found[9] + found[10]) / 2;
}

TEST(AutoTest, BeatsRandomOnASmoothSpace) {
  const Space space = kernel_like();
  EXPECT_LT(median_after(space, "auto", 60, smooth, false),
            0.6 * median_after(space, "random", 60, smooth, false));
}

TEST(AutoTest, BeatsRandomWhereManyPointsFail) {
  const Space space = kernel_like();
  EXPECT_LT(median_after(space, "auto", 60, smooth, true),
            0.8 * median_after(space, "random", 60, smooth, true));
}

TEST(AutoTest, BeatsRandomOnARuggedSpace) {
  const Space space = kernel_like();
  EXPECT_LT(median_after(space, "auto", 80, rugged, true),
            0.9 * median_after(space, "random", 80, rugged, true));
}

TEST(AutoTest, LearnsToAvoidWhatFails) {
  const Space space = kernel_like();
  double share = 0;
  space.for_each([&](const Config& config) {
    share += fails(space, config) ? 1.0 / static_cast<double>(space.count()) : 0;
    return true;
  });
  double late = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto strategy = std::move(*make_strategy("auto", space, seed, {120}));
    for (int i = 0; i < 120; ++i) {
      const Config config = strategy->ask(1).at(0);
      const bool failed = fails(space, config);
      if (i >= 60) late += failed ? 1.0 / (5 * 60) : 0;
      strategy->tell({config, !failed, failed ? 0 : smooth(space, config)});
    }
  }
  EXPECT_LT(late, 0.5 * share);
}

TEST(AutoTest, KeepsLookingWhileResultsAreOut) {
  const Space space = kernel_like();
  const auto strategy = std::move(*make_strategy("auto", space, 9, {0}));
  std::set<Config> proposed;
  std::vector<Config> out;
  for (int round = 0; round < 30; ++round) {
    for (const Config& config : strategy->ask(4)) {
      ASSERT_TRUE(proposed.insert(config).second);
      out.push_back(config);
    }
    // Results come late and out of order: the newest half only.
    for (int i = 0; i < 2 && !out.empty(); ++i) {
      strategy->tell({out.back(), true, smooth(space, out.back())});
      out.pop_back();
    }
  }
  EXPECT_EQ(proposed.size(), 120U);
}

}  // namespace
}  // namespace tunesmith::search
