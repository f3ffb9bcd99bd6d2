// What a sandboxed process may do, and which layers stood. Plain data and C strings only: the launcher links
// nothing but libc, so this header stays free of fmt, expected and JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tunesmith::box {

/// User and group of everything sandboxed when the caller is root ("nobody"): owns nothing, may read what all
/// may read.
inline constexpr unsigned k_sandbox_id = 65534;

struct Policy {
  std::vector<std::string> read_only;   ///< files and folders that may be read and executed
  std::vector<std::string> read_write;  ///< folders that may be written
  /// execve after the payload started (compilers need it, kernels do not). false also takes what only builds
  /// need: changing modes, owners and times of files, timers, moving to another core, new memfds,
  /// personality.
  bool allow_exec = true;
  bool allow_fork = true;  ///< new processes
  bool allow_threads = true;
  int cpu = -1;                           ///< pin to this core; -1 = do not
  std::uint64_t address_space_bytes = 0;  ///< 0 = unlimited, as for all below
  std::uint64_t cpu_seconds = 0;
  std::uint64_t file_size_bytes = 0;
  std::uint64_t processes = 0;
  std::uint64_t open_files = 64;
  // Layers to leave out; only tests of the defences set these.
  bool no_namespaces = false, no_landlock = false, no_seccomp = false;
};

/// Which layers were active. Written by the launcher before it gives way to the payload.
struct Layers {
  bool own_uid = false, user_namespace = false, pid_namespace = false, net_namespace = false,
       ipc_namespace = false, mount_namespace = false, seccomp = false, rlimits = false;
  int landlock_abi = 0;  ///< 0 = not active
  [[nodiscard]] std::string text()
      const;  ///< "uid+userns+pidns+netns+ipcns+landlock7+seccomp+rlimits", "none"
};

}  // namespace tunesmith::box
