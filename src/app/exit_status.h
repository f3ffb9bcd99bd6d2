// The one table of exit statuses: what the program returns, what `tunesmith help exit-statuses` prints and
// what docs/exit-statuses.md says (a test keeps them equal).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tunesmith::app {

enum class Exit {
  success = 0,
  failed = 1,
  usage = 2,
  nothing_passed = 3,
  unavailable = 4,
  conflict = 5,
  infrastructure = 6,
  interrupted = 130,  ///< 128 + SIGINT, as shells expect
};

struct ExitInfo {
  Exit status;
  std::string_view meaning;
  std::string_view example;
};

[[nodiscard]] const std::vector<ExitInfo>& exit_table();
[[nodiscard]] Exit exit_of(ErrorCode code);
/// The table as Markdown: the body of docs/exit-statuses.md.
[[nodiscard]] std::string exit_table_markdown();

}  // namespace tunesmith::app
