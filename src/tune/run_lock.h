// One process at a time on one run: an flock on <run>/lock that dies with its holder, however it dies.
#pragma once

#include <string>

#include "base/error.h"
#include "base/file.h"

namespace tunesmith::tune {

class RunLock {
 public:
  /// A conflict that names the holder's process id when another one has it.
  [[nodiscard]] static Result<RunLock> take(const std::string& run_folder);
  [[nodiscard]] static bool held(const std::string& run_folder);

 private:
  explicit RunLock(UniqueFd fd) : m_fd(std::move(fd)) {}
  UniqueFd m_fd;
};

}  // namespace tunesmith::tune
