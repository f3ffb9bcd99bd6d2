// Comparison of one output buffer with its float64 reference, and the poison that it starts from.
#pragma once

#include <cstdint>
#include <span>

#include "bench/defences.h"
#include "bench/inputs.h"
#include "case/case.h"
#include "case/reason.h"

namespace tunesmith::bench {

struct Difference {
  Reason reason = Reason::none;
  std::int64_t bad = 0;       ///< elements beyond the tolerance
  std::int64_t poisoned = 0;  ///< elements that still hold the poison
  std::int64_t first_bad = -1;
  double got = 0, want = 0;  ///< at first_bad
  double max_abs_error = 0, max_rel_error = 0;
  double worst_row = 0, worst_tile = 0;  ///< worst mean error of a row / tile over the mean tolerance there
};

struct CompareRules {
  Tolerance tolerance;
  /// Error budget from the baseline's own error; infinity when there is none.
  double budget = std::numeric_limits<double>::infinity();
  bool nan_rule = true;       ///< off: "error > tolerance fails", which lets NaN pass
  bool every_element = true;  ///< off: only the relative error of the whole, sum |d|^2 / sum |w|^2 <= 1e-3
};

/// got: elements of `dtype`; want: float64; rows of length `row` (the last extent).
/// |got - want| <= absolute + relative * |want| for each element, written so that NaN fails; NaN and
/// infinities must agree in place and sign.
[[nodiscard]] Difference compare(const std::byte* got, Dtype dtype, std::span<const double> want,
                                 std::int64_t row, const CompareRules& rules, std::uint64_t poison_seed);

/// Fills with a bit pattern that no honest result has: NaNs with a payload for floats, random bits for
/// integers. Above `whole_bytes` only the first line of each page is written (large workspaces).
void poison(std::byte* to, Dtype dtype, std::uint64_t bytes, std::uint64_t seed,
            std::uint64_t whole_bytes = ~0ULL);
[[nodiscard]] std::uint64_t poison_word(Dtype dtype, std::uint64_t seed);

}  // namespace tunesmith::bench
