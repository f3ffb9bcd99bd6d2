#include "search/replay.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "search/compare.h"

namespace tunesmith::search {
namespace {

using space::Config;
using space::Space;
using space::Value;

constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();

std::vector<Value> range(std::int64_t begin, std::int64_t end) {
  std::vector<Value> values;
  for (std::int64_t i = begin; i < end; ++i) values.emplace_back(i);
  return values;
}

ReplaySpace line(std::vector<double> cost) {
  auto space = Space::create({{"a", range(0, static_cast<std::int64_t>(cost.size()))}}, {});
  EXPECT_TRUE(space);
  auto made = ReplaySpace::create("line", *space, std::move(cost));
  EXPECT_TRUE(made);
  return *made;
}

TEST(ReplaySpaceTest, HasNoOptimumWhenEverythingFailed) {
  const auto space = Space::create({{"a", range(0, 3)}}, {});
  ASSERT_TRUE(space);
  EXPECT_FALSE(ReplaySpace::create("none", *space, {k_nan, k_nan, k_nan}));
  EXPECT_FALSE(ReplaySpace::create("not above zero", *space, {0, -1, k_nan}));
  EXPECT_FALSE(ReplaySpace::create("wrong size", *space, {1, 2}));
}

TEST(ReplayTest, NeverCallsAFailedPointTheBest) {
  const ReplaySpace space = line({k_nan, 0, -5, 3, std::numeric_limits<double>::infinity(), 2, k_nan});
  for (const StrategyInfo& info : strategy_table()) {
    const auto strategy = std::move(*make_strategy(info.name, space.space, 1, {100}));
    const ReplayRun run = replay(space, *strategy, 100);
    EXPECT_EQ(run.best.size(), 7U) << info.name;  // the space ends before the budget
    ASSERT_TRUE(run.winner) << info.name;
    EXPECT_EQ(run.winner->at[0], 5U) << info.name;
    EXPECT_EQ(run.best.back(), 2) << info.name;
  }
}

TEST(ReplayTest, CountsTheBudgetExactly) {
  const ReplaySpace space = line(std::vector<double>(50, 1.5));
  for (const StrategyInfo& info : strategy_table()) {
    for (const std::uint64_t budget : {1U, 2U, 7U, 50U, 500U}) {
      const auto strategy = std::move(*make_strategy(info.name, space.space, 3, {budget}));
      EXPECT_EQ(replay(space, *strategy, budget).best.size(), std::min<std::uint64_t>(budget, 50))
          << info.name;
    }
  }
}

TEST(ReplayTest, FindsTheOneGoodPointOfSixty) {
  std::vector<double> cost(60, k_nan);
  cost[41] = 2.5;
  const ReplaySpace space = line(cost);
  for (const StrategyInfo& info : strategy_table()) {
    const auto strategy = std::move(*make_strategy(info.name, space.space, 1, {60}));
    const ReplayRun run = replay(space, *strategy, 60);
    ASSERT_TRUE(run.winner) << info.name;
    EXPECT_EQ(run.best.back(), 2.5) << info.name;
  }
}

TEST(RandomSearchTest, IsTheExpectationOverAllDraws) {
  // Two of {1, 2, 3, failed}: six draws; lowest 1 in three, 2 in two (with 3, failed), 3 in one.
  const RandomSearch two = random_search(line({1, k_nan, 3, 2}), 2);
  EXPECT_NEAR(two.mean, (3 * 1 + 2 * 2 + 1 * 3) / 6.0, 1e-12);
  EXPECT_EQ(two.median, 1);
  const RandomSearch one = random_search(line({1, k_nan, 3, 2}), 1);
  EXPECT_NEAR(one.mean, (1 + 2 + 3 + 3) / 4.0, 1e-12);  // a failure counts as the worst
  EXPECT_EQ(one.median, 2);
  EXPECT_EQ(random_search(line({1, k_nan, 3, 2}), 4).mean, 1);
  EXPECT_EQ(random_search(line({1, k_nan, 3, 2}), 400).mean, 1);
}

TEST(RandomSearchTest, AgreesWithTheRandomStrategy) {
  std::vector<double> cost;
  for (int i = 0; i < 400; ++i) cost.push_back(i % 7 == 0 ? k_nan : 1 + (i * 37 % 400) / 50.0);
  const ReplaySpace space = line(cost);
  double mean = 0;
  constexpr int k_seeds = 2000;
  for (std::uint64_t seed = 1; seed <= k_seeds; ++seed) {
    const auto strategy = std::move(*make_strategy("random", space.space, seed, {10}));
    mean += std::min(replay(space, *strategy, 10).best.back(), space.valid.back()) / k_seeds;
  }
  EXPECT_NEAR(mean, random_search(space, 10).mean, 0.05);
}

TEST(TransferTest, MatchesByNameAndValueNotByPosition) {
  const auto from = Space::create({{"b", range(2, 5)}, {"fixed", range(9, 10)}, {"a", range(0, 2)}}, {});
  const auto to = Space::create({{"a", range(0, 3)}, {"b", range(0, 4)}}, {});
  ASSERT_TRUE(from && to);
  const auto source = ReplaySpace::create("from", *from, {1, 2, 3, k_nan, 5, 6});
  ASSERT_TRUE(source);
  const auto points = transfer(*source, *to);
  ASSERT_TRUE(points);
  // b=4 is not in `to`: of six points four remain, in the order of `from`.
  ASSERT_EQ(points->size(), 4U);
  EXPECT_EQ((*points)[1].config, (Config{{1, 2}}));
  EXPECT_NEAR((*points)[1].objective, std::log(2), 1e-12);
  EXPECT_FALSE((*points)[3].valid);
}

TEST(TransferTest, RefusesSpacesWithOtherChoices) {
  const auto from = Space::create({{"a", range(0, 2)}, {"c", range(0, 2)}}, {});
  const auto to = Space::create({{"a", range(0, 2)}}, {});
  ASSERT_TRUE(from && to);
  EXPECT_FALSE(transfer(*ReplaySpace::create("from", *from, {1, 2, 3, 4}), *to));
  EXPECT_FALSE(transfer(*ReplaySpace::create("to", *to, {1, 2}), *from));
}

TEST(CompareTest, GivesTheSameFiguresForAnyNumberOfThreads) {
  const std::vector<ReplaySpace> spaces = {line({5, 4, k_nan, 3, 2, 9, 1, 8}), line({2, 2, 2, 1})};
  std::vector<Contestant> contestants;
  for (const char* name : {"auto", "genetic"})
    contestants.push_back(
        {name, [name](const Space& space, std::uint64_t seed, const Budget& budget, const Prior& prior) {
           return std::move(*make_strategy(name, space, seed, budget, prior));
         }});
  ComparePlan plan{{2, 4}, 9, 1, {}};
  const Comparison one = compare(spaces, contestants, plan);
  plan.threads = 4;
  const Comparison four = compare(spaces, contestants, plan);
  for (std::size_t c = 0; c < 2; ++c) {
    EXPECT_EQ(one.standings[c].summary, four.standings[c].summary);
    EXPECT_EQ(one.standings[c].interval, four.standings[c].interval);
    EXPECT_EQ(one.standings[c].curve, four.standings[c].curve);
  }
}

TEST(CompareTest, SummarisesMediansByTheirGeometricMean) {
  const std::vector<ReplaySpace> spaces = {line({4, 1}), line({9, 1})};
  // Exhaustive search takes index 0 first: ratios 4 and 9, then 1.
  const Contestant exhaustive{
      "exhaustive", [](const Space& space, std::uint64_t seed, const Budget& budget, const Prior& prior) {
        return std::move(*make_strategy("exhaustive", space, seed, budget, prior));
      }};
  const Comparison comparison = compare(spaces, {exhaustive}, {{1, 2}, 3, 1, {}});
  EXPECT_NEAR(comparison.standings[0].summary[0], 6, 1e-9);
  EXPECT_NEAR(comparison.standings[0].summary[1], 1, 1e-12);
  EXPECT_EQ(comparison.standings[0].cells[0][1].within, 1);
  EXPECT_NEAR(comparison.standings[0].interval[0][0], 6, 1e-9);
  EXPECT_NEAR(comparison.standings[0].interval[0][1], 6, 1e-9);
  // Random after one of {4, 1}: mean 2.5, so that 4 scores (2.5 - 4) / (2.5 - 1).
  EXPECT_NEAR(comparison.standings[0].cells[0][0].score, -1, 1e-12);
}

}  // namespace
}  // namespace tunesmith::search
