#include "search/moves.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace tunesmith::search {
namespace {

using space::Config;
using space::Space;
using space::Value;

Space triangle() {
  std::vector<Value> values;
  for (std::int64_t i = 1; i <= 8; ++i) values.emplace_back(i);
  auto space =
      Space::create({{"a", values}, {"b", values}, {"c", {Value(std::string("x")), Value(std::string("y"))}}},
                    {{"a + b <= 9", {}}, {"c == 'x' or a > 2", {}}});
  EXPECT_TRUE(space);
  return *space;
}

std::size_t changes(const Config& a, const Config& b) {
  std::size_t count = 0;
  for (std::size_t p = 0; p < a.at.size(); ++p) count += a.at[p] != b.at[p] ? 1 : 0;
  return count;
}

TEST(MovesTest, FindsTheSameNeighboursAsTheSpace) {
  const Space space = triangle();
  Rng rng(1);
  space.for_each([&](const Config& config) {
    const auto near = one_changed(space, config, rng);
    const auto wanted = space.neighbours(config, space::Neighbourhood::hamming);
    EXPECT_EQ(std::set<Config>(near.begin(), near.end()), std::set<Config>(wanted.begin(), wanted.end()));
    return true;
  });
}

TEST(MovesTest, SamplesTheNeighboursOfAParameterWithVeryManyValues) {
  std::vector<Value> values;
  for (std::int64_t i = 0; i < 20'000; ++i) values.emplace_back(i);
  const auto space = Space::create({{"a", values}}, {});
  ASSERT_TRUE(space);
  Rng rng(2);
  const auto near = one_changed(*space, {{500}}, rng);
  EXPECT_LE(near.size(), k_values);
  EXPECT_GT(near.size(), k_values / 2);
  EXPECT_NE(std::find(near.begin(), near.end(), Config{{499}}), near.end());
  EXPECT_NE(std::find(near.begin(), near.end(), Config{{501}}), near.end());
}

TEST(MovesTest, StepsStayLegalAndChangeOneParameter) {
  const Space space = triangle();
  Rng rng(3);
  Config at = space.at(0);
  for (int i = 0; i < 500; ++i) {
    const auto next = random_step(space, at, rng);
    ASSERT_TRUE(next);
    ASSERT_TRUE(space.legal(*next));
    ASSERT_EQ(changes(at, *next), 1U);
    at = *next;
  }
}

TEST(MovesTest, GoingTowardsAPointNeverLeavesTheSpace) {
  const Space space = triangle();
  Rng rng(4);
  for (int i = 0; i < 500; ++i) {
    const Config from = space.sample(rng);
    const Config to = space.sample(rng);
    const Config end = towards(space, from, to, 0.7, rng);
    ASSERT_TRUE(space.legal(end));
    for (std::size_t p = 0; p < end.at.size(); ++p)
      ASSERT_TRUE(end.at[p] == from.at[p] || end.at[p] == to.at[p]);
  }
}

TEST(MovesTest, AOnePointSpaceHasNoStep) {
  const auto space = Space::create({{"a", {Value(std::int64_t{3})}}}, {});
  ASSERT_TRUE(space);
  Rng rng(5);
  EXPECT_FALSE(random_step(*space, space->at(0), rng));
  EXPECT_TRUE(one_changed(*space, space->at(0), rng).empty());
  EXPECT_EQ(random_walk(*space, space->at(0), 5, rng), space->at(0));
}

TEST(MovesTest, SpreadsEvenlyOverTheValuesOfEachParameter) {
  const Space space = triangle();
  Rng rng(6);
  Uses used = no_uses(space);
  for (int i = 0; i < 40; ++i) count_use(used, least_used(space, used, 32, rng));
  const auto [least, most] = std::minmax_element(used[2].begin(), used[2].end());
  EXPECT_LE(*most - *least, 6U);
  EXPECT_GE(*std::min_element(used[0].begin(), used[0].end()), 2U);  // 5 each would be even
}

}  // namespace
}  // namespace tunesmith::search
