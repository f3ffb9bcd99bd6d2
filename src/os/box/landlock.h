// File, TCP and signal confinement by Landlock, as far as this kernel's ABI reaches.
#pragma once

#include "os/box/policy.h"

namespace tunesmith::box {

/// Confines the calling process for good. Returns the ABI that stands, 0 when the kernel has none.
/// Paths that do not exist are left out: nothing is gained by naming them.
[[nodiscard]] int confine_files(const Policy& policy);

}  // namespace tunesmith::box
