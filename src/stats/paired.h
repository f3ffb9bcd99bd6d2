// Paired comparison of two kernels with sequential stopping. Pure arithmetic.
// Each sample is one ABBA quadruple's log ratio log(candidate/incumbent). Decides on the median with a
// minimum effect: FASTER when the candidate is faster by at least `minimum_effect` beyond reasonable doubt.
// Method: Wilcoxon signed-rank on (log ratio - shift) (Wilcoxon 1945; Hodges-Lehmann interval), with the
// error probability spent over a fixed schedule of looks so that peeking does not inflate it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tunesmith::stats {

struct PairedOptions {
  double minimum_effect = 0.01;  ///< 1 %: less than that is SAME
  double alpha = 0.002;          ///< total probability of a false FASTER (one side) over all looks
  double slower_alpha = 0.02;    ///< a wrong SLOWER costs a candidate, a wrong FASTER costs trust
  std::size_t minimum_pairs = 8;
  std::size_t maximum_pairs = 200;
};

enum class PairedVerdict { faster, slower, same, ambiguous };

struct PairedResult {
  PairedVerdict verdict = PairedVerdict::ambiguous;
  bool decided = false;      ///< no more samples are needed (a decision, or the cap)
  double median = 0;         ///< Hodges-Lehmann estimate of the log ratio
  double low = 0, high = 0;  ///< confidence interval
  double confidence = 0.99;
};

/// Looks at the samples so far. Call it at the sizes of look_schedule() only: they carry the error spending;
/// between them it estimates but does not decide. FASTER: the median is below -minimum_effect. SAME: the
/// interval lies inside
/// (-minimum_effect, +minimum_effect). SLOWER: the median is above 0. At the cap without any of these:
/// AMBIGUOUS, decided. A sample that is not finite: AMBIGUOUS, decided, with NaN as median. With too few
/// pairs for the confidence, low and high are the extremes and `confidence` is what they really have.
[[nodiscard]] PairedResult look(std::span<const double> log_ratios, const PairedOptions& options);
/// Sample sizes at which look() may be called: 8, 12, 18, 27, … maximum_pairs.
[[nodiscard]] std::vector<std::size_t> look_schedule(const PairedOptions& options);

/// One-sided Wilcoxon signed-rank p-value for "median < shift"; exact (given the ties) up to 25 values,
/// normal with tie and continuity correction beyond. Values equal to the shift have no sign and are dropped
/// (Wilcoxon's own rule); 1 when none are left or a value is not finite.
[[nodiscard]] double wilcoxon_less(std::span<const double> values, double shift);
/// Hodges-Lehmann estimate: median of Walsh averages. NaN when empty or a value is not finite. O(n log n).
[[nodiscard]] double hodges_lehmann(std::span<const double> values);
struct Interval {
  double low = 0, high = 0;
};
/// Confidence interval of the median by inverting the signed-rank test; unbounded when there are too few
/// values for the confidence (fewer than 8 at 99 %).
[[nodiscard]] Interval signed_rank_interval(std::span<const double> values, double confidence);

}  // namespace tunesmith::stats
