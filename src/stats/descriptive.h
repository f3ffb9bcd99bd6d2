// Medians, quantiles, ranks, bootstrap: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tunesmith::stats {

[[nodiscard]] double mean(std::span<const double> values);
[[nodiscard]] double median(std::span<const double> values);                 ///< NaN when empty
[[nodiscard]] double quantile(std::span<const double> values, double q);     ///< linear interpolation, type 7
[[nodiscard]] double deviation(std::span<const double> values);              ///< sample standard deviation
[[nodiscard]] double weighted_geometric_mean(std::span<const double> values, std::span<const double> weights);
[[nodiscard]] double normal_cdf(double z);
[[nodiscard]] double normal_quantile(double p);
/// Two-sided Mann-Whitney U with tie correction and continuity correction.
[[nodiscard]] double mann_whitney(std::span<const double> a, std::span<const double> b);
[[nodiscard]] std::vector<double> ranks(std::span<const double> values);     ///< midranks, from 1

}  // namespace tunesmith::stats
