// Is the case's tolerance worth anything? Before a single candidate is built, outputs that nobody may pass
// off as a result are run through the very comparison that candidates face.
#pragma once

#include "bench/compare.h"
#include "bench/inputs.h"

namespace tunesmith::bench {

/// Zeros, ones, NaN, the mean of the reference, a copy of an input, the result for other inputs: each must
/// FAIL. The error names the shape, the buffer and what passed.
[[nodiscard]] Status lint_tolerance(const Case& c, const InputPool& pool, const CompareRules& rules);

}  // namespace tunesmith::bench
