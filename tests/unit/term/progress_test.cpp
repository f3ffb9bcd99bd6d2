#include "term/progress.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "term/width.h"

using namespace tunesmith::term;

TEST(ProgressTest, FillsInEighths) {
  EXPECT_EQ(bar(0, 4), "░░░░");
  EXPECT_EQ(bar(0.5, 4), "██░░");
  EXPECT_EQ(bar(0.375, 2), "▊░");
  EXPECT_EQ(bar(1, 4), "████");
}

TEST(ProgressTest, LooksFullOnlyAtTheEnd) {
  EXPECT_NE(bar(0.9999, 10), bar(1, 10));
  EXPECT_EQ(width(bar(0.9999, 10)), 10U);
}

TEST(ProgressTest, OddPartsAreCutToTheBar) {
  EXPECT_EQ(bar(-3, 3), "░░░");
  EXPECT_EQ(bar(7, 3), "███");
  EXPECT_EQ(bar(std::nan(""), 3), "░░░");
  EXPECT_EQ(bar(0.5, 0), "");
}

TEST(ProgressTest, EveryPartIsExactlyAsWideAsAsked) {
  for (int i = 0; i <= 1000; ++i) EXPECT_EQ(width(bar(i / 1000.0, 13)), 13U) << i;
}

TEST(ProgressTest, FallsBackToAscii) { EXPECT_EQ(bar(0.5, 4, false), "##--"); }

TEST(SparklineTest, SpansFromTheLowestToTheHighest) {
  EXPECT_EQ(sparkline(std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7}, 8), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(sparkline(std::vector<double>{5, 5}, 8), "▁▁");
}

TEST(SparklineTest, ShowsTheLatestAndLeavesGaps) {
  EXPECT_EQ(sparkline(std::vector<double>{100, 0, std::nan(""), 1}, 3), "▁ █");
  EXPECT_EQ(sparkline(std::vector<double>{}, 3), "");
  EXPECT_EQ(sparkline(std::vector<double>{-1.7e308, 1.7e308}, 3), "▁█") << "the span must not overflow";
}
