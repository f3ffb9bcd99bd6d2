#include "bench/set_comparison.h"

namespace tunesmith::bench {

namespace {

Comparison comparison_of(stats::PairedVerdict verdict) {
  switch (verdict) {
    case stats::PairedVerdict::faster:
      return Comparison::faster;
    case stats::PairedVerdict::slower:
      return Comparison::slower;
    case stats::PairedVerdict::same:
      return Comparison::same;
    case stats::PairedVerdict::ambiguous:
      return Comparison::ambiguous;
  }
  return Comparison::ambiguous;
}

}  // namespace

void set_comparison(TimingEvidence& timing, const stats::PairedResult& result) {
  timing.log_ratio = result.median;
  timing.log_ratio_low = result.low;
  timing.log_ratio_high = result.high;
  timing.confidence = result.confidence;
  timing.comparison = comparison_of(result.verdict);
}

}  // namespace tunesmith::bench
