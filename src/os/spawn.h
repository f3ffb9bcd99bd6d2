// What run() and Child share: start a command, read the launcher's account, end a tree. Private to the room.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "os/box/wire.h"
#include "os/process.h"

namespace tunesmith::os {

struct Spawned {
  pid_t pid = -1;
  UniqueFd pidfd;
  UniqueFd status;  ///< non-blocking; not open for a plain command
  std::int64_t started_ns = 0;
};

/// stdin is /dev/null, stdout and stderr are `output_fd`.
[[nodiscard]] Result<Spawned> spawn_command(const Command& command, int output_fd);

/// Collects the launcher's lines as they come.
class AccountReader {
 public:
  /// Takes what is there. False when the other side is closed.
  bool take(int status_fd);
  [[nodiscard]] const box::Account& account() const { return m_account; }

 private:
  std::string m_pending;
  box::Account m_account;
};

/// Kills the command and everything it started. The caller reaps `pid` afterwards.
void kill_tree(pid_t pid, int pidfd, bool sandboxed);
/// Milliseconds to wait, for poll: rounded up, at least 0.
[[nodiscard]] int poll_ms(std::int64_t until_ns);
/// poll() on one descriptor that goes on after a signal. True when it is ready.
[[nodiscard]] bool wait_readable(int fd, std::int64_t until_ns);
/// Reaps and fills outcome (exited or signaled), code, wall, cpu and peak; `account` may be null.
void reap(pid_t pid, std::int64_t started_ns, const box::Account* account, Finished& finished);

}  // namespace tunesmith::os
