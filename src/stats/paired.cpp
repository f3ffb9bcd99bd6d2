#include "stats/paired.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tunesmith::stats {

namespace {

constexpr double k_confidence = 0.99;

/// How much of the error probability each look may use; the sum is at most `alpha`, so by the union bound the
/// whole sequence errs at most that often, whatever the correlation between looks.
///
/// FASTER splits evenly over the looks that can decide at all. Measured on a mixture of 3 % noise and 10 %
/// outliers of 30 %: an even split finds a gain of 10 % after 19 pairs, 5 % after 29, 3 % after 69 on
/// average. O'Brien-Fleming spending needs 66, 78 and 114; spending half of the rest at each look gains one
/// pair at 10 % and loses half of the power at 2 %.
std::vector<double> spend_evenly(const std::vector<std::size_t>& looks, double alpha) {
  std::vector<double> spent;
  double rest = alpha;
  for (std::size_t i = 0; i < looks.size(); ++i) {
    double share = rest / static_cast<double>(looks.size() - i);
    // n pairs cannot give a smaller p-value than this. A look that just misses it borrows from the later
    // ones; one that is far off passes its share on.
    const double smallest = std::ldexp(1.0, -static_cast<int>(std::min<std::size_t>(looks[i], 1000)));
    if (smallest > share) share = smallest <= 2 * share && smallest <= rest ? smallest : 0;
    spent.push_back(share);
    rest -= share;
  }
  return spent;
}

/// SLOWER spends early: a hopeless candidate should cost eight pairs, not eighty.
std::vector<double> spend_early(const std::vector<std::size_t>& looks, double alpha) {
  constexpr double k_part = 0.3;
  std::vector<double> spent;
  double rest = alpha;
  for (std::size_t i = 0; i < looks.size(); ++i) {
    const double share = i + 1 == looks.size() ? rest : rest * k_part;
    spent.push_back(share);
    rest -= share;
  }
  return spent;
}

double wilcoxon_greater(std::span<const double> values, double shift) {
  std::vector<double> mirrored(values.begin(), values.end());
  for (double& value : mirrored) value = -value;
  return wilcoxon_less(mirrored, -shift);
}

}  // namespace

std::vector<std::size_t> look_schedule(const PairedOptions& options) {
  const std::size_t last = std::max<std::size_t>(options.maximum_pairs, 1);
  std::vector<std::size_t> looks;
  for (std::size_t n = std::max<std::size_t>(options.minimum_pairs, 1); n < last;
       n = std::max(n + 1, n * 3 / 2)) {
    looks.push_back(n);
  }
  looks.push_back(last);
  return looks;
}

PairedResult look(std::span<const double> log_ratios, const PairedOptions& options) {
  PairedResult result;
  result.confidence = k_confidence;
  result.decided = log_ratios.size() >= std::max<std::size_t>(options.maximum_pairs, 1);
  if (log_ratios.empty() ||
      !std::all_of(log_ratios.begin(), log_ratios.end(), [](double value) { return std::isfinite(value); })) {
    // A time that is no number stays in the samples for ever, so more of them cannot help.
    result.decided = result.decided || !log_ratios.empty();
    result.median = result.low = result.high = std::numeric_limits<double>::quiet_NaN();
    return result;
  }
  result.median = hodges_lehmann(log_ratios);
  const Interval interval = signed_rank_interval(log_ratios, k_confidence);
  const bool bounded = std::isfinite(interval.low);
  if (bounded) {
    result.low = interval.low;
    result.high = interval.high;
  } else {
    const auto [low, high] = std::minmax_element(log_ratios.begin(), log_ratios.end());
    result.low = *low;
    result.high = *high;
    result.confidence = 1 - 2 * std::ldexp(1.0, -static_cast<int>(log_ratios.size()));
  }

  const std::vector<std::size_t> looks = look_schedule(options);
  const std::size_t at = std::min(log_ratios.size(), looks.back());
  const auto found = std::find(looks.begin(), looks.end(), at);
  // Between two looks there is an estimate but no verdict: an unplanned peek has no error probability to
  // spend.
  if (found == looks.end()) return result;
  const auto index = static_cast<std::size_t>(found - looks.begin());

  const auto decide = [&](PairedVerdict verdict) {
    result.verdict = verdict;
    result.decided = true;
  };
  if (wilcoxon_less(log_ratios, -options.minimum_effect) <= spend_evenly(looks, options.alpha)[index]) {
    decide(PairedVerdict::faster);
  } else if (bounded && interval.low > -options.minimum_effect && interval.high < options.minimum_effect) {
    decide(PairedVerdict::same);
  } else if (wilcoxon_greater(log_ratios, 0) <= spend_early(looks, options.slower_alpha)[index]) {
    decide(PairedVerdict::slower);
  }
  return result;
}

}  // namespace tunesmith::stats
