#include "base/clock.h"

#include <gtest/gtest.h>

#include <cmath>
#include <regex>

using namespace tunesmith;

TEST(ClockTest, DurationsReadAsPeopleSayThem) {
  EXPECT_EQ(duration_text(0), "0.0 s");
  EXPECT_EQ(duration_text(4.2), "4.2 s");
  EXPECT_EQ(duration_text(200), "3 min 20 s");
  EXPECT_EQ(duration_text(3720), "1 h 02 min");
  EXPECT_EQ(duration_text(360'000), "100 h 00 min");
}

TEST(ClockTest, RoundingCarriesIntoTheNextUnit) {
  EXPECT_EQ(duration_text(59.94), "59.9 s");
  EXPECT_EQ(duration_text(59.97), "1 min 00 s");
  EXPECT_EQ(duration_text(3599.7), "1 h 00 min");
}

TEST(ClockTest, WhatIsNoDurationIsUnknown) {
  EXPECT_EQ(duration_text(-1), "unknown");
  EXPECT_EQ(duration_text(std::nan("")), "unknown");
  EXPECT_EQ(duration_text(HUGE_VAL), "unknown");
}

TEST(ClockTest, MonotonicClockDoesNotGoBack) {
  const std::int64_t before = monotonic_ns();
  EXPECT_GE(monotonic_ns(), before);
}

TEST(ClockTest, RecordsAreInUtc) {
  EXPECT_TRUE(std::regex_match(utc_now(), std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)")));
  EXPECT_TRUE(std::regex_match(utc_compact(), std::regex(R"(\d{8}-\d{6})")));
}
