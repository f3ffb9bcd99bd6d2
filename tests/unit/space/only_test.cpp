#include <gtest/gtest.h>

#include "space/space.h"

namespace tunesmith::space {
namespace {

std::vector<Value> ints(std::initializer_list<std::int64_t> values) {
  std::vector<Value> list;
  for (const std::int64_t value : values) list.emplace_back(value);
  return list;
}

TEST(SpaceOnlyTest, ASpaceOfChosenPointsHoldsExactlyThose) {
  const auto whole = Space::create({{"a", ints({1, 2, 3})}, {"b", ints({1, 2, 3})}}, {{"a != b", {}}});
  ASSERT_TRUE(whole);
  const auto part = whole->only({Config{{2, 0}}, Config{{0, 1}}, Config{{2, 0}}, Config{{0, 2}}});
  ASSERT_TRUE(part) << part.error().line();
  EXPECT_EQ(part->count(), 3U);
  EXPECT_EQ(part->at(0), (Config{{0, 1}}));
  EXPECT_EQ(part->at(2), (Config{{2, 0}}));
  EXPECT_EQ(part->index_of(Config{{0, 2}}), std::optional<std::uint64_t>(1));
  EXPECT_FALSE(part->legal(Config{{1, 0}}));  // legal in the whole, not chosen
  EXPECT_NE(part->broken(Config{{1, 0}})->find("not among"), std::string::npos);
  EXPECT_NE(part->broken(Config{{1, 1}})->find("a != b"), std::string::npos);
  EXPECT_EQ(whole->count(), 6U);
  const auto neighbours = part->neighbours(Config{{0, 1}}, Neighbourhood::hamming);
  ASSERT_EQ(neighbours.size(), 1U);
  EXPECT_EQ(neighbours[0], (Config{{0, 2}}));
}

TEST(SpaceOnlyTest, EveryPointChosenGivesTheSameOrderAsTheConstraints) {
  const auto whole = Space::create({{"a", ints({4, 2, 8})}, {"b", ints({1, 2, 3})}, {"c", ints({0, 1})}},
                                   {{"a * b > 4 or c == 1", {}}});
  ASSERT_TRUE(whole);
  std::vector<Config> points;
  whole->for_each([&](const Config& config) { return points.push_back(config), true; });
  const auto part = whole->only(points);
  ASSERT_TRUE(part);
  ASSERT_EQ(part->count(), whole->count());
  for (std::uint64_t i = 0; i < whole->count(); ++i) EXPECT_EQ(part->at(i), whole->at(i));
}

TEST(SpaceOnlyTest, NoPointOrAnIllegalPointIsRefused) {
  const auto whole = Space::create({{"a", ints({1, 2})}}, {{"a == 1", {}}});
  ASSERT_TRUE(whole);
  EXPECT_FALSE(whole->only({}));
  EXPECT_FALSE(whole->only({Config{{1}}}));
}

}  // namespace
}  // namespace tunesmith::space
