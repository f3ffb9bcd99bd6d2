#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"
#include "stats/descriptive.h"
#include "stats/paired.h"

using namespace tunesmith;
using namespace tunesmith::stats;

namespace {

constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();
constexpr double k_infinity = std::numeric_limits<double>::infinity();
using Values = std::vector<double>;

/// Values of size 1 … n whose positive ranks add up to w.
Values with_positive_sum(int n, int w) {
  Values values;
  for (int rank = n; rank >= 1; --rank) {
    const bool positive = w >= rank;
    if (positive) w -= rank;
    values.push_back(positive ? rank : -rank);
  }
  return values;
}

Values random_values(std::size_t n, std::uint64_t seed) {
  Rng rng(seed);
  Values values;
  for (std::size_t i = 0; i < n; ++i) values.push_back(rng.normal());
  return values;
}

Values walsh_averages(const Values& values) {
  Values all;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i; j < values.size(); ++j) all.push_back(values[i] / 2 + values[j] / 2);
  }
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

TEST(WilcoxonTest, AgreesWithThePublishedTable) {
  // One-sided critical values of W and their exact probabilities (Wilcoxon, Katti and Wilcox 1970).
  EXPECT_NEAR(wilcoxon_less(with_positive_sum(5, 0), 0), 0.03125, 5e-5);
  EXPECT_NEAR(wilcoxon_less(with_positive_sum(8, 5), 0), 0.0391, 5e-5);
  EXPECT_NEAR(wilcoxon_less(with_positive_sum(8, 6), 0), 0.0547, 5e-5);
  EXPECT_NEAR(wilcoxon_less(with_positive_sum(10, 10), 0), 0.0420, 5e-5);
  EXPECT_NEAR(wilcoxon_less(with_positive_sum(12, 17), 0), 0.0461, 5e-5);
  EXPECT_NEAR(wilcoxon_less(with_positive_sum(15, 30), 0), 0.0473, 5e-5);
  EXPECT_NEAR(wilcoxon_less(with_positive_sum(20, 60), 0), 0.0487, 5e-5);
  EXPECT_NEAR(wilcoxon_less(with_positive_sum(25, 100), 0), 0.0479, 5e-5);
}

TEST(WilcoxonTest, ReproducesTheDepressionScaleExample) {
  // Hollander and Wolfe (1973), p. 29: one-sided exact p = 0.01953, estimate 0.46.
  const Values first{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
  const Values second{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
  Values change;
  for (std::size_t i = 0; i < first.size(); ++i) change.push_back(second[i] - first[i]);
  EXPECT_NEAR(wilcoxon_less(change, 0), 0.01953, 5e-6);
  EXPECT_NEAR(hodges_lehmann(change), -0.46, 1e-9);
}

TEST(WilcoxonTest, SmallestPValueIsTwoToTheMinusN) {
  EXPECT_DOUBLE_EQ(wilcoxon_less(with_positive_sum(8, 0), 0), 1.0 / 256);
  EXPECT_DOUBLE_EQ(wilcoxon_less(with_positive_sum(12, 0), 0), 1.0 / 4096);
}

TEST(WilcoxonTest, EqualValuesAreEnumeratedExactly) {
  // 3 negative and 1 positive, all of one size: W+ = 2.5, reached or undercut by 5 of 16 sign patterns.
  EXPECT_DOUBLE_EQ(wilcoxon_less(Values{-1, -1, -1, 1}, 0), 5.0 / 16);
  EXPECT_DOUBLE_EQ(wilcoxon_less(Values(12, -0.1), -0.01), 1.0 / 4096);
}

TEST(WilcoxonTest, ValuesAtTheShiftAreDropped) {
  EXPECT_DOUBLE_EQ(wilcoxon_less(Values{0, 0, 0, -1, -2}, 0), 0.25);
  EXPECT_EQ(wilcoxon_less(Values(30, 0.0), 0), 1);
}

TEST(WilcoxonTest, NormalTailBeyondTheExactRangeErrsOnTheSafeSide) {
  // n = 27 all below: the exact probability is 2^-27; the normal one must not be smaller.
  EXPECT_GT(wilcoxon_less(with_positive_sum(27, 0), 0), std::ldexp(1.0, -27));
  EXPECT_LT(wilcoxon_less(with_positive_sum(27, 0), 0), 1e-5);
  EXPECT_NEAR(wilcoxon_less(with_positive_sum(26, 110), 0), 0.0497, 2e-3);
  EXPECT_NEAR(wilcoxon_less(with_positive_sum(50, 466), 0), 0.0495, 1e-3);
}

TEST(WilcoxonTest, NeverClaimsAnythingFromNonFiniteValues) {
  EXPECT_EQ(wilcoxon_less(Values{-1, -1, k_nan, -1}, 0), 1);
  EXPECT_EQ(wilcoxon_less(Values{-1, -1, -k_infinity, -1}, 0), 1);
  EXPECT_EQ(wilcoxon_less(Values{}, 0), 1);
}

TEST(HodgesLehmannTest, IsTheMedianOfAllWalshAverages) {
  for (const std::size_t n : {1U, 2U, 3U, 7U, 8U, 25U, 40U}) {
    const Values values = random_values(n, n);
    EXPECT_DOUBLE_EQ(hodges_lehmann(values), median(walsh_averages(values))) << n;
  }
}

TEST(HodgesLehmannTest, KeepsExactValuesWithTiesAndSignedZeros) {
  EXPECT_EQ(hodges_lehmann(Values{0.0, -0.0, 0.0}), 0);
  EXPECT_EQ(hodges_lehmann(Values(9, -0.25)), -0.25);
  EXPECT_EQ(hodges_lehmann(Values{-1, 1}), 0);
  EXPECT_EQ(hodges_lehmann(Values{-3, -1, 0, 1, 3}), 0);
  EXPECT_TRUE(std::isnan(hodges_lehmann(Values{})));
  EXPECT_TRUE(std::isnan(hodges_lehmann(Values{1, k_nan})));
}

TEST(HodgesLehmannTest, HandlesAHundredThousandValuesWithoutAllPairs) {
  // All pairs would be 5e9 averages (40 GB): this must not build them.
  EXPECT_NEAR(hodges_lehmann(random_values(100'000, 3)), 0, 0.02);
}

TEST(SignedRankIntervalTest, TakesTheTabulatedOrderStatistics) {
  const Values values = random_values(10, 5);
  const Values walsh = walsh_averages(values);
  // n = 10, 95 %: P(W <= 8) = 0.0244, so the 9th of 55 from either end.
  const Interval interval = signed_rank_interval(values, 0.95);
  EXPECT_EQ(interval.low, walsh[8]);
  EXPECT_EQ(interval.high, walsh[46]);
}

TEST(SignedRankIntervalTest, NeedsEightValuesForNinetyNinePercent) {
  EXPECT_EQ(signed_rank_interval(random_values(7, 1), 0.99).low, -k_infinity);
  EXPECT_EQ(signed_rank_interval(random_values(7, 1), 0.99).high, k_infinity);
  const Values eight = random_values(8, 1);
  EXPECT_EQ(signed_rank_interval(eight, 0.99).low, *std::min_element(eight.begin(), eight.end()));
  EXPECT_EQ(signed_rank_interval(Values{}, 0.99).low, -k_infinity);
}

TEST(SignedRankIntervalTest, CoversTheMedianAsOftenAsItSays) {
  for (const std::size_t n : {12U, 60U}) {
    int covered = 0;
    for (std::uint64_t round = 0; round < 2000; ++round) {
      const Interval interval = signed_rank_interval(random_values(n, round * 1000 + n), 0.95);
      covered += interval.low <= 0 && 0 <= interval.high ? 1 : 0;
    }
    EXPECT_GE(covered, 1870) << n;
    EXPECT_LE(covered, 1955) << n << ": far too wide";
  }
}

TEST(SignedRankIntervalTest, MatchesTheTestItInverts) {
  // Just inside the interval the test does not reject, just outside it does.
  const Values values = random_values(20, 9);
  const Interval interval = signed_rank_interval(values, 0.99);
  EXPECT_LE(wilcoxon_less(values, std::nextafter(interval.high, 9)), 0.005);
  EXPECT_GT(wilcoxon_less(values, std::nextafter(interval.high, -9)), 0.005);
}
