// Who the sandboxed process is: user, namespaces, capabilities.
#pragma once

#include "os/box/policy.h"

namespace tunesmith::box {

/// Gives up root for k_sandbox_id and enters new namespaces, as far as this machine lets us; says what stood.
/// The pid namespace holds for the children of the caller, not for itself.
void change_identity(const Policy& policy, bool want_net_namespace, Layers& layers);
/// Gives up what a new user namespace lends its creator.
void drop_capabilities();

}  // namespace tunesmith::box
