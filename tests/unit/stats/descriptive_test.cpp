#include "stats/descriptive.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace tunesmith::stats;

namespace {

constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();
constexpr double k_infinity = std::numeric_limits<double>::infinity();
using Values = std::vector<double>;

}  // namespace

TEST(DescriptiveTest, QuantileInterpolatesAsTypeSeven) {
  const Values values{4, 1, 3, 2};
  EXPECT_DOUBLE_EQ(quantile(values, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(values, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(median(values), 2.5);
  EXPECT_DOUBLE_EQ(quantile(values, 0.9), 3.7);
  EXPECT_DOUBLE_EQ(quantile(values, 1), 4);
}

TEST(DescriptiveTest, MedianOfOneValueIsThatValue) { EXPECT_EQ(median(Values{7}), 7); }

TEST(DescriptiveTest, EmptyOrNanGivesNanInsteadOfAGuess) {
  EXPECT_TRUE(std::isnan(median(Values{})));
  EXPECT_TRUE(std::isnan(mean(Values{})));
  EXPECT_TRUE(std::isnan(median(Values{1, k_nan, 2})));
  EXPECT_TRUE(std::isnan(deviation(Values{1})));
  EXPECT_TRUE(std::isnan(quantile(Values{1, 2}, 1.5)));
}

TEST(DescriptiveTest, InfiniteTimesKeepTheMedianInfiniteAndNotNan) {
  EXPECT_EQ(median(Values{1, k_infinity, k_infinity, k_infinity}), k_infinity);
  EXPECT_EQ(median(Values{1, 2, k_infinity}), 2);
}

TEST(DescriptiveTest, DeviationDividesByOneLess) {
  EXPECT_DOUBLE_EQ(mean(Values{2, 4, 4, 4, 5, 5, 7, 9}), 5);
  EXPECT_DOUBLE_EQ(deviation(Values{2, 4, 4, 4, 5, 5, 7, 9}), std::sqrt(32.0 / 7));
}

TEST(DescriptiveTest, GeometricMeanWeighsLogarithms) {
  EXPECT_NEAR(weighted_geometric_mean(Values{2, 8}, Values{1, 1}), 4, 1e-12);
  EXPECT_NEAR(weighted_geometric_mean(Values{2, 16}, Values{2, 1}), 4, 1e-12);
  EXPECT_NEAR(weighted_geometric_mean(Values{1e300, 1e300}, Values{1, 1}), 1e300, 1e288)
      << "must not overflow";
}

TEST(DescriptiveTest, GeometricMeanRefusesWhatHasNoLogarithm) {
  EXPECT_TRUE(std::isnan(weighted_geometric_mean(Values{2, 0}, Values{1, 1})));
  EXPECT_TRUE(std::isnan(weighted_geometric_mean(Values{2, -1}, Values{1, 1})));
  EXPECT_TRUE(std::isnan(weighted_geometric_mean(Values{2, k_infinity}, Values{1, 1})));
  EXPECT_TRUE(std::isnan(weighted_geometric_mean(Values{2, k_nan}, Values{1, 1})));
  EXPECT_TRUE(std::isnan(weighted_geometric_mean(Values{2, 2}, Values{0, 0})));
  EXPECT_TRUE(std::isnan(weighted_geometric_mean(Values{2, 2}, Values{1, -1})));
  EXPECT_TRUE(std::isnan(weighted_geometric_mean(Values{2, 2}, Values{1})));
  EXPECT_NEAR(weighted_geometric_mean(Values{2, k_nan}, Values{1, 0}), 2, 1e-15)
      << "weight zero does not count";
}

TEST(DescriptiveTest, NormalQuantileAgreesWithTheTables) {
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-12);
  EXPECT_NEAR(normal_quantile(0.5), 0, 1e-12);
  EXPECT_NEAR(normal_quantile(0.001), -3.090232306167813, 1e-12);
  EXPECT_NEAR(normal_quantile(1e-12), -7.034483825301131, 1e-9);
  EXPECT_EQ(normal_quantile(0), -k_infinity);
  EXPECT_EQ(normal_quantile(1), k_infinity);
  EXPECT_TRUE(std::isnan(normal_quantile(-0.1)));
  EXPECT_TRUE(std::isnan(normal_quantile(k_nan)));
}

TEST(DescriptiveTest, NormalCdfUndoesTheQuantile) {
  for (double p : {1e-9, 1e-4, 0.02, 0.3, 0.5, 0.77, 0.999})
    EXPECT_NEAR(normal_cdf(normal_quantile(p)), p, 1e-13);
}

TEST(DescriptiveTest, RanksShareTheirMeanWhenTied) {
  EXPECT_EQ(ranks(Values{10, 20, 10, 5}), (Values{2.5, 4, 2.5, 1}));
  EXPECT_EQ(ranks(Values{3, 3, 3}), (Values{2, 2, 2}));
  EXPECT_EQ(ranks(Values{}), Values{});
}

TEST(DescriptiveTest, RanksPutNanLast) { EXPECT_EQ(ranks(Values{k_nan, 2, 1}), (Values{3, 2, 1})); }

TEST(MannWhitneyTest, GivesTheKnownValueForSeparatedSamples) {
  // U = 0, mean 12.5, variance 22.9167: z = 12 / 4.7871.
  EXPECT_NEAR(mann_whitney(Values{1, 2, 3, 4, 5}, Values{6, 7, 8, 9, 10}), 0.012185780355344, 1e-9);
}

TEST(MannWhitneyTest, GivesTheKnownValueForThePermeabilityData) {
  // Hollander and Wolfe (1973), p. 69: U = 35; normal with continuity correction: z = 9.5 / 8.16497.
  const Values at_term{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
  const Values early{1.15, 0.88, 0.90, 0.74, 1.21};
  EXPECT_NEAR(mann_whitney(at_term, early), 2 * normal_cdf(-9.5 / std::sqrt(50.0 * 16 / 12)), 1e-12);
  EXPECT_NEAR(mann_whitney(at_term, early), 0.2446, 1e-4);
  EXPECT_DOUBLE_EQ(mann_whitney(at_term, early), mann_whitney(early, at_term));
}

TEST(MannWhitneyTest, CorrectsTheVarianceForTies) {
  // a = {1,1,2}, b = {2,3,3}: U = 0.5; ties 6+6+6 = 18; variance 9/12*(7-18/30) = 4.8; z = 3.5/2.1909.
  EXPECT_NEAR(mann_whitney(Values{1, 1, 2}, Values{2, 3, 3}), 2 * normal_cdf(-3.5 / std::sqrt(4.8)), 1e-12);
}

TEST(MannWhitneyTest, SaysNothingWhereNothingCanBeSaid) {
  EXPECT_EQ(mann_whitney(Values{}, Values{1}), 1);
  EXPECT_EQ(mann_whitney(Values{2, 2, 2}, Values{2, 2}), 1);
  EXPECT_EQ(mann_whitney(Values{k_nan, 1}, Values{2, 3}), 1);
}
