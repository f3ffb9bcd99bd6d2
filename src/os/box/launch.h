// The launcher: orders in, sandbox around, payload started, its end passed on.
//
//   caller -> launcher -> payload          the launcher waits for the payload and ends as it ended
//                      -> keeper           pid 1 of the new pid namespace; when it dies, all in there dies
//
// The payload is a sibling of pid 1, not pid 1 itself: pid 1 would not die of its own abort().
#pragma once

namespace tunesmith::box {

struct Payload {
  char** argv = nullptr;       ///< to execute, argv[0] being a path; or
  int (*loop)(int) = nullptr;  ///< to call with
  int control_fd = -1;
};

/// Reads orders from `orders_fd`, accounts on `status_fd`. Does not return: ends as the payload ends, with
/// exit status k_launch_failed when there was nothing to end.
[[noreturn]] void launch(int orders_fd, int status_fd, const Payload& payload);

inline constexpr int k_launch_failed = 125;

}  // namespace tunesmith::box
