#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/random.h"
#include "search/strategy.h"

namespace tunesmith::search {
namespace {

using space::Config;
using space::Space;
using space::Value;

std::vector<Value> range(std::int64_t begin, std::int64_t end) {
  std::vector<Value> list;
  for (std::int64_t value = begin; value < end; ++value) list.emplace_back(value);
  return list;
}

Space make(std::vector<space::Parameter> parameters, const std::vector<std::string>& constraints) {
  std::vector<Space::Constraint> placed;
  for (const std::string& text : constraints) placed.push_back({text, {}});
  auto space = Space::create(std::move(parameters), placed);
  EXPECT_TRUE(space) << space.error().line();
  return *space;
}

/// Mixed kinds, a constraint, 108 of 240 points or so.
Space mixed() {
  return make(
      {{"tile",
        {Value(std::int64_t{1}), Value(std::int64_t{2}), Value(std::int64_t{4}), Value(std::int64_t{8}),
         Value(std::int64_t{16})}},
       {"unroll", range(1, 5)},
       {"layout", {Value(std::string("row")), Value(std::string("column")), Value(std::string("tiled"))}},
       {"pack", {Value(true), Value(false)}},
       {"ratio", {Value(0.25), Value(0.5)}}},
      {"tile * unroll <= 16", "pack or layout != 'tiled'"});
}

std::unique_ptr<Strategy> start(std::string_view name, const Space& space, std::uint64_t seed = 1,
                                std::uint64_t budget = 0) {
  auto strategy = make_strategy(name, space, seed, {budget});
  EXPECT_TRUE(strategy);
  return std::move(*strategy);
}

class EveryStrategyTest : public testing::TestWithParam<std::string_view> {};

INSTANTIATE_TEST_SUITE_P(Table, EveryStrategyTest, testing::ValuesIn([] {
                           std::vector<std::string_view> names;
                           for (const StrategyInfo& entry : strategy_table()) names.push_back(entry.name);
                           return names;
                         }()),
                         [](const auto& parameter) { return std::string(parameter.param); });

TEST_P(EveryStrategyTest, ProposesEveryLegalPointOnceAndThenEnds) {
  const Space space = mixed();
  const auto strategy = start(GetParam(), space);
  std::set<Config> proposed;
  for (std::size_t k = 1;; k = k % 7 + 1) {
    const auto batch = strategy->ask(k);
    ASSERT_LE(batch.size(), k);
    if (batch.empty()) break;
    for (const Config& config : batch) {
      ASSERT_TRUE(space.legal(config));
      ASSERT_TRUE(proposed.insert(config).second);
      const bool valid = config.at[0] != 2;
      strategy->tell({config, valid, valid ? static_cast<double>(config.at[1]) : 0.0});
    }
  }
  EXPECT_EQ(proposed.size(), space.count());
  EXPECT_TRUE(strategy->ask(1).empty());
}

TEST_P(EveryStrategyTest, ProposesAllWithoutWaitingForResults) {
  const Space space = mixed();
  const auto strategy = start(GetParam(), space);
  const auto all = strategy->ask(space.count() + 10);
  EXPECT_EQ(std::set<Config>(all.begin(), all.end()).size(), space.count());
  EXPECT_EQ(all.size(), space.count());
}

TEST_P(EveryStrategyTest, ProposesTheSameForTheSameSeedAndHistory) {
  const Space space = mixed();
  const auto one = start(GetParam(), space, 42, 60);
  const auto two = start(GetParam(), space, 42, 60);
  for (int i = 0; i < 60; ++i) {
    const auto a = one->ask(1);
    ASSERT_EQ(a, two->ask(1));
    const Outcome outcome{a[0], i % 5 != 0, static_cast<double>(a[0].at[0]) - 0.3 * a[0].at[1]};
    one->tell(outcome);
    two->tell(outcome);
  }
}

TEST_P(EveryStrategyTest, SurvivesASpaceWhereEverythingFails) {
  const Space space = mixed();
  const auto strategy = start(GetParam(), space);
  std::size_t count = 0;
  for (auto batch = strategy->ask(1); !batch.empty(); batch = strategy->ask(1), ++count)
    strategy->tell({batch[0], false, 0});
  EXPECT_EQ(count, space.count());
}

TEST_P(EveryStrategyTest, HandlesOnePoint) {
  for (const Space& space : {make({{"a", range(3, 4)}}, {}), make({}, {})}) {
    const auto strategy = start(GetParam(), space);
    EXPECT_EQ(strategy->ask(5).size(), 1U);
    strategy->tell({space.at(0), true, 1});
    EXPECT_TRUE(strategy->ask(5).empty());
  }
}

TEST_P(EveryStrategyTest, NeverProposesWhatItWasTold) {
  const Space space = mixed();
  const auto strategy = start(GetParam(), space);
  const Config baseline = space.at(17);
  strategy->tell({baseline, true, 0});
  std::size_t count = 0;
  for (auto batch = strategy->ask(4); !batch.empty(); batch = strategy->ask(4)) {
    count += batch.size();
    for (const Config& config : batch) EXPECT_NE(config, baseline);
  }
  EXPECT_EQ(count, space.count() - 1);
}

TEST_P(EveryStrategyTest, SurvivesExtremeObjectives) {
  const Space space = mixed();
  const auto strategy = start(GetParam(), space);
  const double extremes[] = {1e308, -1e308, 0, 5e-324, -3, 1e-300, 7};
  std::size_t i = 0;
  for (auto batch = strategy->ask(1); !batch.empty(); batch = strategy->ask(1))
    strategy->tell({batch[0], true, extremes[i++ % 7]});
  EXPECT_EQ(i, space.count());
}

TEST_P(EveryStrategyTest, SurvivesASpaceWhereAllAreEqual) {
  const Space space = mixed();
  const auto strategy = start(GetParam(), space);
  std::size_t count = 0;
  for (auto batch = strategy->ask(1); !batch.empty(); batch = strategy->ask(1), ++count)
    strategy->tell({batch[0], true, 0});
  EXPECT_EQ(count, space.count());
}

TEST_P(EveryStrategyTest, WorksBeyond64Bits) {
  std::vector<space::Parameter> parameters;
  for (int p = 0; p < 30; ++p) parameters.push_back({"p" + std::to_string(p), range(0, 10)});
  const Space space = make(parameters, {"p0 != p1"});
  const auto strategy = start(GetParam(), space);
  std::set<Config> proposed;
  for (int i = 0; i < 80; ++i) {
    const auto batch = strategy->ask(1);
    ASSERT_EQ(batch.size(), 1U);
    ASSERT_TRUE(space.legal(batch[0]));
    ASSERT_TRUE(proposed.insert(batch[0]).second);
    strategy->tell({batch[0], i % 3 != 0, static_cast<double>(batch[0].at[0])});
  }
}

TEST_P(EveryStrategyTest, StandsResultsThatComeLateInBatchesAndOutOfOrder) {
  const Space space = mixed();
  const auto strategy = start(GetParam(), space, 7, 100);
  std::set<Config> proposed;
  std::vector<Config> out;
  Rng rng(5);
  while (true) {
    const auto batch = strategy->ask(1 + rng.below(6));
    for (const Config& config : batch) {
      ASSERT_TRUE(space.legal(config));
      ASSERT_TRUE(proposed.insert(config).second);
      out.push_back(config);
    }
    if (batch.empty() && out.empty()) break;
    rng.shuffle(out);
    for (std::size_t i = batch.empty() ? out.size() : rng.below(out.size() + 1); i > 0; --i) {
      strategy->tell({out.back(), rng.chance(0.7), rng.normal()});
      out.pop_back();
    }
  }
  EXPECT_EQ(proposed.size(), space.count());
}

TEST_P(EveryStrategyTest, TakesWhatIsNotANumberForAFailure) {
  const Space space = mixed();
  const auto strategy = start(GetParam(), space);
  const double wrong[] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                          -std::numeric_limits<double>::infinity(), 1.0};
  std::size_t i = 0;
  for (auto batch = strategy->ask(3); !batch.empty(); batch = strategy->ask(3))
    for (const Config& config : batch) strategy->tell({config, true, wrong[i++ % 4]});
  EXPECT_EQ(i, space.count());
}

TEST_P(EveryStrategyTest, IgnoresAnIllegalPointAndAResultToldTwice) {
  const Space space = mixed();
  const auto strategy = start(GetParam(), space);
  strategy->tell({{{4, 3, 0, 0, 0}}, true, -1e9});  // 16 * 4 > 16
  std::size_t count = 0;
  for (auto batch = strategy->ask(2); !batch.empty(); batch = strategy->ask(2)) {
    count += batch.size();
    for (const Config& config : batch) {
      strategy->tell({config, true, 2});
      strategy->tell({config, false, 0});
    }
  }
  EXPECT_EQ(count, space.count());
}

TEST_P(EveryStrategyTest, FindsItsWayWithABudgetOfOne) {
  const Space space = mixed();
  EXPECT_EQ(start(GetParam(), space, 1, 1)->ask(1).size(), 1U);
}

TEST_P(EveryStrategyTest, ReachesTheFewLegalPointsOfABillion) {
  // Nine parameters of ten values, of which about 10^4 combinations are legal.
  std::vector<space::Parameter> parameters;
  for (int p = 0; p < 9; ++p) parameters.push_back({"p" + std::to_string(p), range(0, 10)});
  const Space space = make(parameters, {"p0 == p1", "p2 == p3", "p4 == p5", "p6 == p7", "p8 == p0"});
  ASSERT_EQ(space.cartesian(), 1e9);
  ASSERT_EQ(space.count(), 10'000U);
  const auto strategy = start(GetParam(), space, 2, 60);
  std::set<Config> proposed;
  for (int i = 0; i < 60; ++i) {
    const auto batch = strategy->ask(1);
    ASSERT_EQ(batch.size(), 1U);
    ASSERT_TRUE(space.legal(batch[0]));
    ASSERT_TRUE(proposed.insert(batch[0]).second);
    strategy->tell({batch[0], batch[0].at[0] != 3, static_cast<double>(batch[0].at[2] + batch[0].at[4])});
  }
}

TEST_P(EveryStrategyTest, StaysSmallOnAMillionLegalPoints) {
  static const Space cube = make({{"a", range(0, 100)}, {"b", range(0, 100)}, {"c", range(0, 100)}}, {});
  static const Space row = make({{"a", range(0, 50'000)}}, {});  // many values in one parameter
  ASSERT_EQ(cube.count(), 1'000'000U);
  for (const Space* space : {&cube, &row}) {
    const auto strategy = start(GetParam(), *space, 2, 40);
    for (int i = 0; i < 40; ++i) {
      const auto batch = strategy->ask(1);
      ASSERT_EQ(batch.size(), 1U);
      strategy->tell({batch[0], true, std::fabs(static_cast<double>(batch[0].at[0]) - 70)});
    }
  }
}

TEST_P(EveryStrategyTest, TriesAPriorFirstAndStillReachesEverything) {
  const Space space = mixed();
  Prior prior;
  prior.sources.emplace_back();
  for (std::uint64_t i = 0; i < 20; ++i)
    prior.sources[0].push_back({space.at(i), i % 4 != 0, static_cast<double>(20 - i)});
  prior.sources[0].push_back({{{4, 3, 0, 0, 0}}, true, -5});  // not legal here
  auto made = make_strategy(GetParam(), space, 1, {40}, prior);
  ASSERT_TRUE(made);
  const auto first = (*made)->ask(1);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0], space.at(19));
  std::set<Config> proposed(first.begin(), first.end());
  (*made)->tell({first[0], true, 1});
  for (auto batch = (*made)->ask(3); !batch.empty(); batch = (*made)->ask(3)) {
    for (const Config& config : batch) {
      ASSERT_TRUE(space.legal(config));
      ASSERT_TRUE(proposed.insert(config).second);
      (*made)->tell({config, config.at[0] != 1, static_cast<double>(config.at[1])});
    }
  }
  EXPECT_EQ(proposed.size(), space.count());
}

TEST_P(EveryStrategyTest, GoesOnWithoutAPriorThatSaysNothing) {
  const Space space = mixed();
  Prior prior;
  prior.sources.emplace_back();
  for (std::uint64_t i = 0; i < 20; ++i) prior.sources[0].push_back({space.at(i), false, 0});
  auto made = make_strategy(GetParam(), space, 1, {40}, prior);
  ASSERT_TRUE(made);
  EXPECT_EQ((*made)->ask(space.count() + 1).size(), space.count());
}

TEST(StrategyTableTest, PutsTheDefaultFirstAndSuggestsTheNearestName) {
  EXPECT_EQ(strategy_table().front().name, "auto");
  const auto wrong = make_strategy("exaustive", mixed(), 1, {});
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().mend.find("exhaustive"), std::string::npos);
  EXPECT_EQ(wrong.error().code, ErrorCode::usage);
}

TEST(ExhaustiveTest, GoesInIndexOrder) {
  const Space space = mixed();
  const auto strategy = start("exhaustive", space);
  for (std::uint64_t i = 0; i < space.count(); ++i) EXPECT_EQ(strategy->ask(1).at(0), space.at(i));
}

TEST(RandomTest, DrawsEveryOrderAlike) {
  const Space space = make({{"a", range(0, 4)}}, {});
  std::vector<int> first(4, 0);
  std::vector<int> last(4, 0);
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    const auto all = start("random", space, seed)->ask(4);
    ++first[all[0].at[0]];
    ++last[all[3].at[0]];
  }
  for (int value = 0; value < 4; ++value) {
    EXPECT_NEAR(first[static_cast<std::size_t>(value)], 1000, 120);
    EXPECT_NEAR(last[static_cast<std::size_t>(value)], 1000, 120);
  }
}

TEST(RandomTest, DrawsFromATrillionPointsWithoutHoldingThem) {
  std::vector<space::Parameter> parameters;
  for (int p = 0; p < 12; ++p) parameters.push_back({"p" + std::to_string(p), range(0, 10)});
  const Space space = make(parameters, {});
  const auto all = start("random", space)->ask(5000);
  EXPECT_EQ(std::set<Config>(all.begin(), all.end()).size(), 5000U);
}

}  // namespace
}  // namespace tunesmith::search
