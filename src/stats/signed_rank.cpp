// Wilcoxon's signed-rank test, its estimate and its interval (the single look; the schedule of looks is in
// paired.cpp).
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "stats/descriptive.h"
#include "stats/paired.h"

namespace tunesmith::stats {

namespace {

constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();
constexpr double k_infinity = std::numeric_limits<double>::infinity();
// Up to here the distribution is enumerated; beyond, the normal tail errs on the safe side (it is heavier).
constexpr std::size_t k_exact_limit = 25;

bool all_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

/// Exact P(W+ <= w) for any set of midranks, all given doubled so that they are whole numbers.
/// Every sign pattern is equally likely, so the count of subsets by their sum is the distribution.
class ExactDistribution {
 public:
  explicit ExactDistribution(std::span<const std::size_t> doubled_ranks) {
    std::size_t total = 0;
    for (const std::size_t rank : doubled_ranks) total += rank;
    m_probability.assign(total + 1, 0.0);
    m_probability[0] = 1;
    std::size_t reach = 0;
    for (const std::size_t rank : doubled_ranks) {
      reach += rank;
      for (std::size_t sum = reach + 1; sum-- > 0;) {
        const double without = m_probability[sum];
        const double with = sum >= rank ? m_probability[sum - rank] : 0;
        m_probability[sum] = (without + with) / 2;
      }
    }
  }

  [[nodiscard]] double at_most(std::size_t doubled_sum) const {
    double probability = 0;
    for (std::size_t i = 0; i <= doubled_sum && i < m_probability.size(); ++i)
      probability += m_probability[i];
    return std::min(probability, 1.0);
  }

 private:
  std::vector<double> m_probability;
};

/// Doubles as integers of the same order, so that a bisection ends at an exact value.
std::uint64_t to_order(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return (bits >> 63U) != 0 ? ~bits : bits | (1ULL << 63U);
}

double from_order(std::uint64_t order) {
  return std::bit_cast<double>((order >> 63U) != 0 ? order & ~(1ULL << 63U) : ~order);
}

double walsh(double a, double b) { return a / 2 + b / 2; }

/// The k-th smallest (from 1) of the n(n+1)/2 Walsh averages of sorted values, without building them:
/// bisection over the value, counting by a staircase walk. O(64 n), exact because rounding keeps the order.
double walsh_order_statistic(std::span<const double> sorted, std::size_t k) {
  std::uint64_t low = to_order(sorted.front());
  std::uint64_t high = to_order(sorted.back());
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    const double limit = from_order(middle);
    std::size_t count = 0;
    std::size_t end = sorted.size();  // partners [i, end) keep the average at or below the limit
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      while (end > i && walsh(sorted[i], sorted[end - 1]) > limit) --end;
      if (end <= i) break;
      count += end - i;
    }
    if (count >= k) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return from_order(low);
}

std::vector<double> sorted_copy(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  // -0 and +0 are equal but differ in order as integers.
  for (double& value : sorted) value += 0.0;
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

}  // namespace

double wilcoxon_less(std::span<const double> values, double shift) {
  if (!all_finite(values) || !std::isfinite(shift)) return 1;
  std::vector<double> distance;
  std::vector<bool> above;
  for (const double value : values) {
    // A difference of zero has no sign; it is dropped, as Wilcoxon did.
    if (value == shift) continue;
    distance.push_back(std::fabs(value - shift));
    above.push_back(value > shift);
  }
  if (distance.empty()) return 1;
  const std::vector<double> rank = ranks(distance);
  double w_plus = 0;
  for (std::size_t i = 0; i < rank.size(); ++i) w_plus += above[i] ? rank[i] : 0;

  if (rank.size() <= k_exact_limit) {
    std::vector<std::size_t> doubled;
    for (const double r : rank) doubled.push_back(static_cast<std::size_t>(2 * r));
    return ExactDistribution(doubled).at_most(static_cast<std::size_t>(2 * w_plus));
  }
  const auto n = static_cast<double>(rank.size());
  std::sort(distance.begin(), distance.end());
  double ties = 0;
  for (std::size_t i = 0; i < distance.size();) {
    std::size_t end = i + 1;
    while (end < distance.size() && distance[end] == distance[i]) ++end;
    const auto tied = static_cast<double>(end - i);
    ties += tied * tied * tied - tied;
    i = end;
  }
  const double variance = n * (n + 1) * (2 * n + 1) / 24 - ties / 48;
  return normal_cdf((w_plus - n * (n + 1) / 4 + 0.5) / std::sqrt(variance));
}

double hodges_lehmann(std::span<const double> values) {
  if (values.empty() || !all_finite(values)) return k_nan;
  const std::vector<double> sorted = sorted_copy(values);
  const std::size_t count = sorted.size() * (sorted.size() + 1) / 2;
  const double upper = walsh_order_statistic(sorted, count / 2 + 1);
  return count % 2 == 1 ? upper : walsh(walsh_order_statistic(sorted, count / 2), upper);
}

Interval signed_rank_interval(std::span<const double> values, double confidence) {
  if (!all_finite(values)) return {k_nan, k_nan};
  const double tail = (1 - confidence) / 2;
  // So few values cannot bound the median with this confidence, however they lie.
  if (values.empty() || !(tail > 0) ||
      std::ldexp(1.0, -static_cast<int>(std::min<std::size_t>(values.size(), 1000))) > tail) {
    return {-k_infinity, k_infinity};
  }
  const std::size_t n = values.size();
  std::size_t depth = 1;  // the depth-th Walsh average from either end
  if (n <= k_exact_limit) {
    std::vector<std::size_t> doubled;
    for (std::size_t i = 1; i <= n; ++i) doubled.push_back(2 * i);
    const ExactDistribution distribution(doubled);
    while (distribution.at_most(2 * depth) <= tail) ++depth;
  } else {
    const auto size = static_cast<double>(n);
    const double deviation_w = std::sqrt(size * (size + 1) * (2 * size + 1) / 24);
    const double at = size * (size + 1) / 4 + normal_quantile(tail) * deviation_w + 0.5;
    depth = at >= 1 ? static_cast<std::size_t>(at) : 1;
  }
  const std::vector<double> sorted = sorted_copy(values);
  const std::size_t count = n * (n + 1) / 2;
  // A confidence near zero must still give an interval the right way round.
  depth = std::min(depth, (count + 1) / 2);
  return {walsh_order_statistic(sorted, depth), walsh_order_statistic(sorted, count + 1 - depth)};
}

}  // namespace tunesmith::stats
