// Medians, quantiles, means and ranks: pure functions.
// A value that is not a number, or too few values, gives NaN rather than a guess: missing evidence is never a
// pass.
#pragma once

#include <span>
#include <vector>

namespace tunesmith::stats {

[[nodiscard]] double mean(std::span<const double> values);                ///< NaN when empty
[[nodiscard]] double median(std::span<const double> values);              ///< NaN when empty
[[nodiscard]] double quantile(std::span<const double> values, double q);  ///< linear interpolation, type 7
[[nodiscard]] double deviation(
    std::span<const double> values);  ///< sample standard deviation, NaN below two values
/// exp(sum w log v / sum w). NaN unless the sizes agree, all counted values are positive and finite and the
/// weights are finite, not negative and not all zero. A value of weight zero is not counted.
[[nodiscard]] double weighted_geometric_mean(std::span<const double> values, std::span<const double> weights);
[[nodiscard]] double normal_cdf(double z);
[[nodiscard]] double normal_quantile(double p);  ///< -inf at 0, +inf at 1, NaN outside
/// Two-sided p-value of Mann-Whitney U, normal with tie and continuity correction. 1 where nothing can be
/// said (an empty side, a NaN, all values equal).
[[nodiscard]] double mann_whitney(std::span<const double> a, std::span<const double> b);
[[nodiscard]] std::vector<double> ranks(
    std::span<const double> values);  ///< midranks, from 1; NaN ranks last

}  // namespace tunesmith::stats
