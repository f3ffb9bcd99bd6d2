#include "app/exit_status.h"

#include <fmt/format.h>

namespace tunesmith::app {

const std::vector<ExitInfo>& exit_table() {
  static const std::vector<ExitInfo> table = {
      {Exit::success, "success: it ran to its end, or the check passed",
       "verify of a result that meets the gate"},
      {Exit::failed, "a check failed, or a result is slower than the one it must not fall behind",
       "verify --against of a regression; case check of a case whose tolerance lets zeros pass"},
      {Exit::usage, "wrong usage, or an input that is unreadable or invalid",
       "an unknown flag; a torn JSON file"},
      {Exit::nothing_passed, "nothing passed: no candidate met the gate and beat the baseline",
       "tune where the baseline is already the best"},
      {Exit::unavailable, "this machine lacks something", "no C++ compiler; the worker program is missing"},
      {Exit::conflict, "somebody else holds it, or it changed in mid-run",
       "a second process on the same run; a gate edited while the run was paused"},
      {Exit::infrastructure, "the disk, the kernel or the tuner itself failed",
       "no space left on the device"},
      {Exit::interrupted, "a person stopped it; everything measured so far is kept", "Ctrl-C while tuning"},
  };
  return table;
}

Exit exit_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::usage:
    case ErrorCode::unreadable:
    case ErrorCode::invalid:
      return Exit::usage;
    case ErrorCode::conflict:
      return Exit::conflict;
    case ErrorCode::unavailable:
      return Exit::unavailable;
    case ErrorCode::interrupted:
      return Exit::interrupted;
    case ErrorCode::io:
    case ErrorCode::infra:
    case ErrorCode::internal:
      return Exit::infrastructure;
  }
  return Exit::infrastructure;
}

std::string exit_table_markdown() {
  std::string out = "| status | meaning | for example |\n|---|---|---|\n";
  for (const ExitInfo& info : exit_table()) {
    out += fmt::format("| {} | {} | {} |\n", static_cast<int>(info.status), info.meaning, info.example);
  }
  return out;
}

}  // namespace tunesmith::app
