#include "os/box/policy.h"

namespace tunesmith::box {

std::string Layers::text() const {
  std::string text;
  const auto add = [&text](bool stands, const char* name) {
    if (!stands) return;
    if (!text.empty()) text += '+';
    text += name;
  };
  add(own_uid, "uid");
  add(user_namespace, "userns");
  add(pid_namespace, "pidns");
  add(net_namespace, "netns");
  add(ipc_namespace, "ipcns");
  add(mount_namespace, "mntns");
  add(landlock_abi > 0, ("landlock" + std::to_string(landlock_abi)).c_str());
  add(seccomp, "seccomp");
  add(rlimits, "rlimits");
  return text.empty() ? "none" : text;
}

}  // namespace tunesmith::box
