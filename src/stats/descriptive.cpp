#include "stats/descriptive.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

namespace tunesmith::stats {

namespace {

constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();

bool any_nan(std::span<const double> values) {
  return std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); });
}

}  // namespace

double mean(std::span<const double> values) {
  if (values.empty()) return k_nan;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median(std::span<const double> values) { return quantile(values, 0.5); }

double quantile(std::span<const double> values, double q) {
  // Sorting needs an order, which a NaN does not have.
  if (values.empty() || any_nan(values) || !(q >= 0 && q <= 1)) return k_nan;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  // Equal neighbours are returned as they are: inf - inf would be NaN.
  if (sorted[below] == sorted[above]) return sorted[below];
  const double part = at - static_cast<double>(below);
  if (part == 0) return sorted[below];
  return sorted[below] * (1 - part) + sorted[above] * part;
}

double deviation(std::span<const double> values) {
  if (values.size() < 2) return k_nan;
  const double center = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - center) * (value - center);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double weighted_geometric_mean(std::span<const double> values, std::span<const double> weights) {
  if (values.size() != weights.size()) return k_nan;
  double logs = 0;
  double total = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!(weights[i] >= 0) || std::isinf(weights[i])) return k_nan;
    if (weights[i] == 0) continue;
    if (!(values[i] > 0) || std::isinf(values[i])) return k_nan;
    logs += weights[i] * std::log(values[i]);
    total += weights[i];
  }
  return total > 0 ? std::exp(logs / total) : k_nan;
}

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

double normal_quantile(double p) {
  if (!(p >= 0 && p <= 1)) return k_nan;
  if (p == 0) return -std::numeric_limits<double>::infinity();
  if (p == 1) return std::numeric_limits<double>::infinity();
  if (p > 0.5) return -normal_quantile(1 - p);
  // Abramowitz and Stegun 26.2.23 is good to 5e-4; Halley steps on the tail make it exact.
  const double t = std::sqrt(-2 * std::log(p));
  double z =
      (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t;
  for (int step = 0; step < 4; ++step) {
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    if (!(density > 0)) break;
    const double off = (normal_cdf(z) - p) / density;
    z -= off / (1 + z * off / 2);
  }
  return z;
}

std::vector<double> ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (std::isnan(values[a]) || std::isnan(values[b]))
      return !std::isnan(values[a]) && std::isnan(values[b]);
    return values[a] < values[b];
  });
  std::vector<double> result(values.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i + 1;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    // Ranks i+1 … end share their mean.
    for (std::size_t j = i; j < end; ++j) result[order[j]] = static_cast<double>(i + 1 + end) / 2;
    i = end;
  }
  return result;
}

double mann_whitney(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty() || any_nan(a) || any_nan(b)) return 1;
  std::vector<double> both(a.begin(), a.end());
  both.insert(both.end(), b.begin(), b.end());
  const std::vector<double> rank = ranks(both);
  const auto n_a = static_cast<double>(a.size());
  const auto n_b = static_cast<double>(b.size());
  const double n = n_a + n_b;
  const double u = std::accumulate(rank.begin(), rank.begin() + static_cast<std::ptrdiff_t>(a.size()), 0.0) -
                   n_a * (n_a + 1) / 2;
  std::sort(both.begin(), both.end());
  double ties = 0;
  for (std::size_t i = 0; i < both.size();) {
    std::size_t end = i + 1;
    while (end < both.size() && both[end] == both[i]) ++end;
    const auto tied = static_cast<double>(end - i);
    ties += tied * tied * tied - tied;
    i = end;
  }
  const double variance = n_a * n_b / 12 * ((n + 1) - ties / (n * (n - 1)));
  if (!(variance > 0)) return 1;
  const double z = (std::fabs(u - n_a * n_b / 2) - 0.5) / std::sqrt(variance);
  return std::min(1.0, 2 * normal_cdf(-z));
}

}  // namespace tunesmith::stats
