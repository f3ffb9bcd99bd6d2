#include "case/reason.h"

namespace tunesmith {

const std::vector<ReasonInfo>& reason_table() {
  static const std::vector<ReasonInfo> table = {
      {Reason::build_failed, "BUILD_FAILED", "the compiler or the linker refused the candidate"},
      {Reason::build_timeout, "BUILD_TIMEOUT", "compiling took longer than limits.build_seconds"},
      {Reason::crashed, "CRASHED", "the worker died by a signal, or ended without its handshake"},
      {Reason::timeout, "TIMEOUT", "one kernel call took longer than limits.call_seconds"},
      {Reason::wrong_result, "WRONG_RESULT",
       "an output differs from the reference by more than the tolerance"},
      {Reason::stale_output, "STALE_OUTPUT", "an output, or a part of it, was not written by the call"},
      {Reason::nan_mismatch, "NAN_MISMATCH",
       "NaN or infinity stands where the reference has a number, or the reverse"},
      {Reason::out_of_bounds, "OUT_OF_BOUNDS", "the kernel touched memory outside its buffers"},
      {Reason::nondeterministic, "NONDETERMINISTIC", "equal inputs gave different outputs"},
      {Reason::input_modified, "INPUT_MODIFIED", "a read-only input was changed by the call"},
      {Reason::impossible_time, "IMPOSSIBLE_TIME",
       "faster than the machine can be, or a time that is zero, negative or not a number"},
      {Reason::clocks_disagree, "CLOCKS_DISAGREE",
       "the deciding clock and the fraud-check clock tell different stories"},
      {Reason::too_few_samples, "TOO_FEW_SAMPLES", "too few undisturbed samples were left to decide on"},
      {Reason::no_effect, "NO_EFFECT", "the difference is smaller than the minimum effect"},
      {Reason::duplicate, "DUPLICATE", "the same program was evaluated before under another name"},
      {Reason::constraint, "CONSTRAINT", "the configuration breaks a constraint of the case"},
      {Reason::forbidden_edit, "FORBIDDEN_EDIT",
       "the diff touches what the case does not list as editable, or does not apply"},
      {Reason::forbidden_symbol, "FORBIDDEN_SYMBOL",
       "the built library uses or offers a symbol that a kernel has no need of"},
      {Reason::forbidden_flag, "FORBIDDEN_FLAG", "a compiler or linker flag is not on the allow list"},
      {Reason::sandbox, "SANDBOX", "the candidate tried something that the sandbox forbids"},
      {Reason::contaminated, "CONTAMINATED",
       "the measurement was disturbed by the candidate itself or by the machine"},
      {Reason::below_floor, "BELOW_FLOOR", "throughput is below the floor that the gate sets"},
      {Reason::not_faster, "NOT_FASTER", "correct, but not faster than the incumbent"},
      {Reason::ambiguous, "AMBIGUOUS",
       "the sample limit was reached before faster or slower could be told apart"},
      {Reason::missing_evidence, "MISSING_EVIDENCE",
       "a figure that the gate requires is absent, or no check was executed"},
      {Reason::self_reported, "SELF_REPORTED",
       "the figures come from the user's own program, not from the examiner"},
      {Reason::unsealed, "UNSEALED", "the result was not made by the bench, or was changed afterwards"},
      {Reason::infra, "INFRA", "the machine or the checker failed; retried, never charged to the candidate"},
  };
  return table;
}

std::string_view code_of(Reason reason) {
  for (const ReasonInfo& info : reason_table()) {
    if (info.reason == reason) return info.code;
  }
  return "";
}

std::optional<Reason> reason_from_code(std::string_view code) {
  for (const ReasonInfo& info : reason_table()) {
    if (info.code == code) return info.reason;
  }
  return std::nullopt;
}

}  // namespace tunesmith
