#include "search/metric.h"

#include <gtest/gtest.h>

namespace tunesmith::search {
namespace {

using space::Space;
using space::Value;

Space one(std::vector<Value> values) {
  auto space = Space::create({{"a", std::move(values)}}, {});
  EXPECT_TRUE(space);
  return *space;
}

double between(const Metric& metric, std::uint16_t a, std::uint16_t b) { return metric.distance({a}, {b}); }

std::vector<Value> wholes(const std::vector<std::int64_t>& numbers) {
  std::vector<Value> values;
  for (const std::int64_t number : numbers) values.emplace_back(number);
  return values;
}

TEST(MetricTest, IsNothingForEqualAndOneForTheEnds) {
  const Metric metric(one(wholes({1, 2, 4, 8, 16})), {.jump = 0.03, .alignment = 0, .rank = 0.5});
  EXPECT_EQ(between(metric, 3, 3), 0);
  EXPECT_NEAR(between(metric, 0, 4), 1, 1e-6);
  EXPECT_NEAR(between(metric, 1, 2), 0.97 / 16 + 0.03, 1e-6);  // a quarter of the way, squared
}

TEST(MetricTest, TellsNamesApartButDoesNotOrderThem) {
  const Metric metric(
      one({Value(std::string("row")), Value(std::string("column")), Value(std::string("x"))}));
  EXPECT_EQ(between(metric, 0, 1), 1);
  EXPECT_EQ(between(metric, 0, 2), 1);
}

TEST(MetricTest, HoldsAlignedWidthsTogether) {
  const std::vector<Value> widths = wholes({32, 40, 64});
  const Metric plain(one(widths), {.jump = 0, .alignment = 0, .rank = 1});
  const Metric aligned(one(widths), {.jump = 0, .alignment = 0.5, .rank = 1});
  // 40 is halfway by rank; by powers of two 32 and 64 are alike and 40 is not.
  EXPECT_LT(between(aligned, 0, 2) / between(aligned, 0, 1), between(plain, 0, 2) / between(plain, 0, 1));
}

TEST(MetricTest, StaysFiniteForZeroNegativeAndHugeNumbers) {
  const Metric metric(one({Value(-1e308), Value(0.0), Value(1.0), Value(1e308)}));
  for (std::uint16_t a = 0; a < 4; ++a) {
    for (std::uint16_t b = 0; b < 4; ++b) {
      EXPECT_GE(between(metric, a, b), 0);
      EXPECT_LE(between(metric, a, b), 1.0001);
    }
  }
}

TEST(MetricTest, GathersManyValuesInCells) {
  std::vector<Value> values;
  for (std::int64_t i = 0; i < 20'000; ++i) values.emplace_back(i);
  const Space space = one(std::move(values));
  const Metric metric(space);
  EXPECT_EQ(metric.cells(0), Metric::k_cells);
  EXPECT_EQ(metric.code({{0}})[0], 0);
  EXPECT_EQ(metric.code({{19'999}})[0], Metric::k_cells - 1);
}

TEST(MetricTest, LeavesOutWhatHasNoChoice) {
  auto space = Space::create({{"a", wholes({7})}, {"b", wholes({1, 2})}}, {});
  ASSERT_TRUE(space);
  EXPECT_EQ(Metric(*space).dimensions(), 1U);
}

}  // namespace
}  // namespace tunesmith::search
