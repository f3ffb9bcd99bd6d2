#include "stats/paired.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"

using namespace tunesmith;
using namespace tunesmith::stats;

namespace {

constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();
using Values = std::vector<double>;

/// A log ratio as a shared machine gives it: 3 % noise, every tenth sample an outlier of 30 %.
double noisy(Rng& rng, double truth) { return truth + (rng.chance(0.1) ? 0.3 : 0.03) * rng.normal(); }

struct Race {
  PairedResult result;
  std::size_t pairs = 0;
};

template <class Draw>
Race race(const PairedOptions& options, Draw draw) {
  Values values;
  Race race;
  for (const std::size_t n : look_schedule(options)) {
    while (values.size() < n) values.push_back(draw());
    race.result = look(values, options);
    race.pairs = n;
    if (race.result.decided) break;
  }
  return race;
}

struct Tally {
  int faster = 0, slower = 0, same = 0, ambiguous = 0;
  double pairs = 0;  ///< mean
};

Tally tally(double truth, int rounds, std::uint64_t seed) {
  Rng rng(seed);
  Tally counts;
  for (int round = 0; round < rounds; ++round) {
    const Race run = race({}, [&] { return noisy(rng, truth); });
    switch (run.result.verdict) {
      case PairedVerdict::faster:
        ++counts.faster;
        break;
      case PairedVerdict::slower:
        ++counts.slower;
        break;
      case PairedVerdict::same:
        ++counts.same;
        break;
      case PairedVerdict::ambiguous:
        ++counts.ambiguous;
        break;
    }
    counts.pairs += static_cast<double>(run.pairs) / rounds;
  }
  return counts;
}

}  // namespace

TEST(LookScheduleTest, GrowsByHalfUpToTheCap) {
  EXPECT_EQ(look_schedule({}), (std::vector<std::size_t>{8, 12, 18, 27, 40, 60, 90, 135, 200}));
}

TEST(LookScheduleTest, EndsAtTheCapWhateverTheOptions) {
  PairedOptions options;
  options.minimum_pairs = options.maximum_pairs = 400;
  EXPECT_EQ(look_schedule(options), std::vector<std::size_t>{400});
  options.minimum_pairs = 500;
  EXPECT_EQ(look_schedule(options), std::vector<std::size_t>{400});
  options.minimum_pairs = 0;
  options.maximum_pairs = 4;
  EXPECT_EQ(look_schedule(options), (std::vector<std::size_t>{1, 2, 3, 4}));
}

TEST(PairedTest, IdenticalKernelIsAcceptedAsFasterInAtMostOnePercent) {
  const Tally counts = tally(0.0, 2000, 11);
  RecordProperty("pairs", static_cast<int>(counts.pairs));
  EXPECT_LE(counts.faster, 20);
  EXPECT_GE(counts.same + counts.ambiguous, 1900);
  EXPECT_LE(counts.slower, 60) << "2 % of 2000 with room for chance";
}

TEST(PairedTest, FalseFasterAtTheVeryEdgeOfTheEffectStaysWithinAlpha) {
  // The hardest truth: exactly the minimum effect. alpha = 0.002 of 2000 rounds is 4; 11 is its 99.9 %
  // quantile.
  EXPECT_LE(tally(-0.01, 2000, 12).faster, 11);
}

TEST(PairedTest, GainOfTenPercentIsFound) {
  const Tally counts = tally(std::log(1 / 1.10), 2000, 13);
  EXPECT_GE(counts.faster, 1900);
  EXPECT_LE(counts.pairs, 30);
}

TEST(PairedTest, GainOfThreePercentIsFoundBeforeTheCap) {
  EXPECT_GE(tally(std::log(1 / 1.03), 500, 14).faster, 475);
}

TEST(PairedTest, HopelessCandidateIsDroppedEarly) {
  const Tally counts = tally(std::log(1.5), 500, 15);
  EXPECT_GE(counts.slower, 499);
  EXPECT_LE(counts.pairs, 12);
}

TEST(PairedTest, HugeQuietGainIsDecidedAtTheSecondLook) {
  const Race run = race({}, [] { return -0.7; });
  EXPECT_EQ(run.result.verdict, PairedVerdict::faster);
  EXPECT_EQ(run.pairs, 12U);
  EXPECT_DOUBLE_EQ(run.result.median, -0.7);
}

TEST(PairedTest, AllZeroLogRatiosAreSameAtTheFirstLook) {
  const Race run = race({}, [] { return 0.0; });
  EXPECT_EQ(run.result.verdict, PairedVerdict::same);
  EXPECT_EQ(run.pairs, 8U);
  EXPECT_EQ(run.result.median, 0);
  EXPECT_EQ(run.result.low, 0);
  EXPECT_EQ(run.result.high, 0);
}

TEST(PairedTest, GainBelowTheMinimumEffectIsSame) {
  EXPECT_EQ(race({}, [] { return -0.009; }).result.verdict, PairedVerdict::same);
  EXPECT_EQ(race({}, [] { return 0.009; }).result.verdict, PairedVerdict::same);
}

TEST(PairedTest, ExactlyTheMinimumEffectIsNeverFaster) {
  const Race run = race({}, [] { return -0.01; });
  EXPECT_EQ(run.result.verdict, PairedVerdict::ambiguous);
  EXPECT_EQ(run.pairs, 200U);
  EXPECT_TRUE(run.result.decided);
}

TEST(PairedTest, NonFiniteSampleIsAmbiguousAndEndsTheRace) {
  for (const double bad : {k_nan, HUGE_VAL, -HUGE_VAL}) {
    Values values(8, -0.5);
    values[3] = bad;
    const PairedResult result = look(values, {});
    EXPECT_EQ(result.verdict, PairedVerdict::ambiguous);
    EXPECT_TRUE(result.decided);
    EXPECT_TRUE(std::isnan(result.median));
  }
}

TEST(PairedTest, NothingIsDecidedBetweenTheLooks) {
  // 13 is no scheduled size: peeking after every pair would inflate the error.
  const PairedResult result = look(Values(13, -0.7), {});
  EXPECT_FALSE(result.decided);
  EXPECT_EQ(result.verdict, PairedVerdict::ambiguous);
  EXPECT_DOUBLE_EQ(result.median, -0.7);
  EXPECT_FALSE(look(Values{}, {}).decided);
}

TEST(PairedTest, MoreThanTheCapCountsAsTheLastLook) {
  const PairedResult result = look(Values(203, -0.7), {});
  EXPECT_TRUE(result.decided);
  EXPECT_EQ(result.verdict, PairedVerdict::faster);
}

TEST(PairedTest, TooFewPairsForTheConfidenceSayWhatTheyReallyHave) {
  PairedOptions options;
  options.minimum_pairs = options.maximum_pairs = 4;
  const PairedResult result = look(Values{-0.5, -0.4, -0.6, -0.5}, options);
  EXPECT_EQ(result.verdict, PairedVerdict::ambiguous) << "four pairs cannot beat an error of 0.002";
  EXPECT_TRUE(result.decided);
  EXPECT_DOUBLE_EQ(result.confidence, 0.875);
  EXPECT_EQ(result.low, -0.6);
  EXPECT_EQ(result.high, -0.4);
}

TEST(PairedTest, LongerScheduleStillDecidesAHugeGainAtTheSecondLook) {
  PairedOptions options;
  options.maximum_pairs = 400;
  EXPECT_EQ(race(options, [] { return -0.7; }).pairs, 12U);
}
