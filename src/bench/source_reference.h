// Reference by a source of the engineer's: compiled apart with -Dreal=double, run in its own sandboxed worker
// in float64 on the same inputs, widened. It never shares a process with a candidate or with the examiner.
#pragma once

#include "bench/builder.h"
#include "bench/inputs.h"

namespace tunesmith::bench {

[[nodiscard]] Status compute_source_reference(const Case& c, InputPool& pool, Builder& builder,
                                              const Defences& defences);

}  // namespace tunesmith::bench
