// System calls that nothing sandboxed needs are refused by a BPF filter assembled by hand: no library,
// microseconds.
#pragma once

#include "os/box/policy.h"

namespace tunesmith::box {

/// Whether this kernel has seccomp filters at all.
[[nodiscard]] bool has_seccomp();

/// Confines the calling process for good. Needs no_new_privs. `own_sessions` leaves setsid and setpgid
/// allowed (a pid namespace ends the tree without them). When policy.allow_exec is false, the only execve let
/// through is one whose path pointer is `exec_path`: a secret of the launcher, gone with its address space;
/// nullptr lets none through.
[[nodiscard]] bool confine_calls(const Policy& policy, bool own_sessions, const char* exec_path);

}  // namespace tunesmith::box
