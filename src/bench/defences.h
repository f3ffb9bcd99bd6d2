// Names of the single defences that tests/cheats and `selftest` may switch off, one at a time, to prove that
// each cheat is caught by the defence that is said to catch it. A result made with a defence off says so.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tunesmith::bench {

struct Defences {
  bool check_results = true;  ///< compare outputs with the reference
  bool check_nan = true;      ///< NaN and infinity masks must agree; comparison written so that NaN fails
  bool check_every_element =
      true;  ///< element, row and tile maxima; off: one global similarity, as some harnesses do
  bool check_scored_shapes = true;  ///< off: only the smallest shape is checked
  bool check_timed_calls = true;    ///< outputs of timed calls are checked too
  bool baseline_budget = true;      ///< error at most a small multiple of the baseline's own
  bool poison = true;               ///< outputs and workspace are poisoned before each call
  bool guard_bytes = true;          ///< slack around writable buffers is checked
  bool determinism = true;          ///< same input, same bits (one declared thread)
  bool fresh_inputs = true;         ///< new content at old addresses; off: one input set
  bool novelty = true;              ///< calls on inputs never seen before must be as fast as the others
  bool outside_clock = true;        ///< off: the worker's own clock is believed
  bool clocks_agree = true;         ///< wall against CPU and run-queue time
  bool idle_check = true;           ///< no CPU used between calls
  bool one_thread = true;           ///< thread creation is refused when one thread is declared
  bool speed_of_light = true;       ///< faster than the machine can be is refused
  bool float_mode = true;           ///< rounding and denormal modes must be left as they were
  bool fault_handlers = true;       ///< our fault handlers must stay
  bool symbols = true;              ///< imported symbols against the allow list
  bool nonce = true;                ///< a reply must carry its request's nonce
  bool process_limits = true;       ///< rlimits, fork and exec refused
  bool sandbox = true;              ///< Landlock, seccomp, namespaces
  bool time_limit = true;

  /// Field names as in this struct; an unknown one is an error with the nearest.
  [[nodiscard]] static Result<Defences> without(const std::vector<std::string>& off);
};
[[nodiscard]] const std::vector<std::string>& defence_names();

}  // namespace tunesmith::bench
