#include "os/box/identity.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace tunesmith::box {

namespace {

bool drop_root() {
  if (setgroups(0, nullptr) != 0) return false;
  if (setresgid(k_sandbox_id, k_sandbox_id, k_sandbox_id) != 0) return false;
  if (setresuid(k_sandbox_id, k_sandbox_id, k_sandbox_id) != 0) return false;
  // A change of user hides /proc/self from ourselves, and the id maps are written there.
  prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  return true;
}

bool write_text(const char* path, const char* text) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool written = write(fd, text, std::strlen(text)) == static_cast<ssize_t>(std::strlen(text));
  close(fd);
  return written;
}

/// Everyone is themselves inside. Without a map the payload would still run, as the overflow id.
void map_identity(unsigned user, unsigned group) {
  char line[64];
  write_text("/proc/self/setgroups", "deny");
  std::snprintf(line, sizeof line, "%u %u 1", user, user);
  write_text("/proc/self/uid_map", line);
  std::snprintf(line, sizeof line, "%u %u 1", group, group);
  write_text("/proc/self/gid_map", line);
}

void note(int flags, Layers& layers) {
  if ((flags & CLONE_NEWUSER) != 0) layers.user_namespace = true;
  if ((flags & CLONE_NEWPID) != 0) layers.pid_namespace = true;
  if ((flags & CLONE_NEWNET) != 0) layers.net_namespace = true;
  if ((flags & CLONE_NEWIPC) != 0) layers.ipc_namespace = true;
}

/// Unshares one by one what it could not unshare together.
bool enter(int flags, Layers& layers) {
  if (flags == 0) return true;
  if (unshare(flags) == 0) {
    note(flags, layers);
    return true;
  }
  for (const int flag : {CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWNET}) {
    if ((flags & flag) != 0 && unshare(flag) == 0) note(flag, layers);
  }
  return false;
}

}  // namespace

void change_identity(const Policy& policy, bool want_net_namespace, Layers& layers) {
  const int rest = CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | (want_net_namespace ? CLONE_NEWNET : 0);
  int missing = policy.no_namespaces ? 0 : rest;
  if (geteuid() == 0) {
    // Where the machine forbids user namespaces to ordinary users, root can still give the others.
    if (missing != 0 && unshare(missing) == 0) {
      note(missing, layers);
      missing = 0;
    }
    layers.own_uid = drop_root();
  }
  if (policy.no_namespaces) return;
  const unsigned user = geteuid();
  const unsigned group = getegid();
  enter(CLONE_NEWUSER | missing, layers);
  if (layers.user_namespace) map_identity(user, group);
}

void drop_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  syscall(SYS_capset, &header, none);
}

}  // namespace tunesmith::box
