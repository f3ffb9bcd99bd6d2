// A paired comparison's outcome as evidence of one shape.
#pragma once

#include "case/evidence.h"
#include "stats/paired.h"

namespace tunesmith::bench {

/// Log ratio with its interval and confidence, and the verdict; times and counts are left as they are.
void set_comparison(TimingEvidence& timing, const stats::PairedResult& result);

}  // namespace tunesmith::bench
