#include "tune/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "base/text.h"

namespace tunesmith::tune {

Result<RunLock> RunLock::take(const std::string& run_folder) {
  const std::string path = run_folder + "/lock";
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd) {
    return fail(ErrorCode::io, fmt::format("cannot open the run's lock: {}", errno_text(errno)),
                "check the folder and its permissions", Place{path, 0, 0, {}});
  }
  if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) {
      return fail(ErrorCode::io, fmt::format("cannot lock the run: {}", errno_text(errno)), "",
                  Place{path, 0, 0, {}});
    }
    char holder[32] = {};
    const ssize_t got = pread(fd.get(), holder, sizeof holder - 1, 0);
    const std::string pid = got > 0 ? std::string(trim(holder)) : std::string();
    return fail(ErrorCode::conflict,
                "the run is in use by another process" + (pid.empty() ? "" : " (pid " + printable(pid) + ")"),
                "wait until it ends or stop it, then resume", Place{run_folder, 0, 0, {}});
  }
  // For people only: the lock itself is what counts, so a full disk does not matter here.
  const std::string pid = std::to_string(getpid()) + "\n";
  if (ftruncate(fd.get(), 0) == 0) (void)!pwrite(fd.get(), pid.data(), pid.size(), 0);
  return RunLock(std::move(fd));
}

bool RunLock::held(const std::string& run_folder) {
  const UniqueFd fd(open((run_folder + "/lock").c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return false;
  if (flock(fd.get(), LOCK_SH | LOCK_NB) != 0) return errno == EWOULDBLOCK;
  flock(fd.get(), LOCK_UN);
  return false;
}

}  // namespace tunesmith::tune
