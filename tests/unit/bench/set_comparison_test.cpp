#include "bench/set_comparison.h"

#include <gtest/gtest.h>

namespace tunesmith::bench {
namespace {

TEST(SetComparisonTest, CarriesTheIntervalAndEachVerdictAndLeavesTheTimes) {
  const std::pair<stats::PairedVerdict, Comparison> table[] = {
      {stats::PairedVerdict::faster, Comparison::faster},
      {stats::PairedVerdict::slower, Comparison::slower},
      {stats::PairedVerdict::same, Comparison::same},
      {stats::PairedVerdict::ambiguous, Comparison::ambiguous}};
  for (const auto& [verdict, comparison] : table) {
    TimingEvidence timing;
    timing.latency_ms = 3;
    timing.pairs = 17;
    stats::PairedResult result;
    result.verdict = verdict;
    result.median = -0.2;
    result.low = -0.3;
    result.high = -0.1;
    result.confidence = 0.98;
    set_comparison(timing, result);
    EXPECT_EQ(timing.comparison, comparison);
    EXPECT_EQ(timing.log_ratio, -0.2);
    EXPECT_EQ(timing.log_ratio_low, -0.3);
    EXPECT_EQ(timing.log_ratio_high, -0.1);
    EXPECT_EQ(timing.confidence, 0.98);
    EXPECT_EQ(timing.latency_ms, 3);
    EXPECT_EQ(timing.pairs, 17);
  }
}

}  // namespace
}  // namespace tunesmith::bench
