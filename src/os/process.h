// Child processes: posix_spawn (never fork: 300 ms from a large parent), own process group, pidfd, limits,
// named outcomes. The environment is built from nothing. Linux calls for processes never leave this room.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "os/box/policy.h"

namespace tunesmith::os {

struct Command {
  std::vector<std::string> argv;         ///< argv[0] is a path or is looked up in PATH of `environment`
  std::vector<std::string> environment;  ///< "NAME=value"; empty means empty
  std::string working_folder;            ///< "" = the caller's
  std::vector<std::pair<int, int>> descriptors;  ///< (ours, theirs); everything else is closed
  /// Wraps the command in the sandbox launcher (tunesmith-worker exec); nullopt runs it plainly.
  std::optional<box::Policy> policy;
  /// Runs the launcher's own loop (tunesmith-worker run: worker_main) inside the sandbox instead of `argv`,
  /// which is then ignored. Needs `policy`. control_fd of worker_main is descriptors.front().second.
  bool worker_loop = false;
  double wall_seconds = 60;                 ///< then the whole group is killed
  std::uint64_t output_bytes = 1U << 20;    ///< stdout and stderr together; more kills the group
  const std::atomic<bool>* stop = nullptr;  ///< set: kill and return `interrupted`
};

struct Finished {
  enum class Outcome {
    exited,
    signaled,
    timed_out,
    output_limit,
    interrupted,
    not_started
  } outcome = Outcome::not_started;
  int code = 0;        ///< exit status or signal number
  std::string output;  ///< stdout and stderr interleaved, cut at the cap
  double wall_ms = 0;
  double cpu_ms = 0;  ///< of the whole tree that was waited for
  std::uint64_t peak_rss_bytes = 0;
  box::Layers layers;  ///< sandbox layers that were active
  [[nodiscard]] bool ok() const { return outcome == Outcome::exited && code == 0; }
  [[nodiscard]] std::string text() const;  ///< "exit status 1", "killed by SIGSEGV", "timed out after 60 s"
};

/// Runs to the end. Never throws; what could not be started is `not_started` with the reason in `output`.
[[nodiscard]] Finished run(const Command& command);

/// A long-lived child (the worker). Destroying it kills the group and reaps.
class Child {
 public:
  /// stdout and stderr go to `output_fd` (or /dev/null when -1). Returns when the layers stand and the
  /// payload starts. The child dies with the thread that spawned it (PR_SET_PDEATHSIG): spawn from a thread
  /// that outlives it.
  [[nodiscard]] static Result<Child> spawn(const Command& command, int output_fd = -1);
  Child(Child&&) noexcept;
  Child& operator=(Child&&) noexcept;
  ~Child();
  [[nodiscard]] pid_t pid() const { return m_pid; }  ///< of the process we spawned (the launcher)
  /// The process that runs the payload, as seen from here; equals pid() when the command is not sandboxed.
  [[nodiscard]] pid_t inner_pid() const { return m_inner_pid; }
  [[nodiscard]] const box::Layers& layers() const { return m_layers; }
  [[nodiscard]] bool running();
  void kill_group();
  /// Waits up to `wall_seconds`, then kills; returns how it ended.
  [[nodiscard]] Finished wait(double wall_seconds);

 private:
  Child() = default;
  pid_t m_pid = -1;
  pid_t m_inner_pid = -1;
  UniqueFd m_pidfd;
  UniqueFd m_status;  ///< from the launcher; not open for a plain command
  box::Layers m_layers;
  std::int64_t m_started_ns = 0;
};

/// The sandbox runs under an id of its own when we are root: hands a file or a folder with all it holds to
/// that id, so that the payload can reach it. Folders above it must be searchable (0711). Does nothing when
/// we are not root.
[[nodiscard]] Status give_to_sandbox(const std::string& path);

/// Path of the launcher program tunesmith-worker: beside this program, in ../libexec/tunesmith, or the build
/// folder.
[[nodiscard]] Result<std::string> worker_program();
/// Path of the static launcher tunesmith-launch for payloads that are programs; the worker's where it was not
/// built.
[[nodiscard]] Result<std::string> launch_program();

/// CPU nanoseconds that a process (all its threads) has used so far, read from outside; -1 when it is gone.
[[nodiscard]] std::int64_t process_cpu_ns(pid_t pid);
/// Nanoseconds the process's main thread waited for a core so far (/proc/PID/schedstat); -1 when unknown.
[[nodiscard]] std::int64_t run_delay_ns(pid_t pid);
/// The same, read again and again: keeps the file open.
class RunDelay {
 public:
  explicit RunDelay(pid_t pid);
  [[nodiscard]] std::int64_t ns() const;

 private:
  UniqueFd m_file;
};
[[nodiscard]] int thread_count(pid_t pid);
[[nodiscard]] std::uint64_t peak_rss_bytes(pid_t pid);
/// user+system CPU of this process and its reaped children, in milliseconds.
[[nodiscard]] double own_cpu_ms();

}  // namespace tunesmith::os
