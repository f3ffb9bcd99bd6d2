// Reason codes: every rejection carries exactly one. Stable; documented in docs/reason-codes.md.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace tunesmith {

enum class Reason {
  none,
  build_failed,
  build_timeout,
  crashed,
  timeout,
  wrong_result,
  stale_output,
  nan_mismatch,
  out_of_bounds,
  nondeterministic,
  input_modified,
  impossible_time,
  clocks_disagree,
  too_few_samples,
  no_effect,
  duplicate,
  constraint,
  forbidden_edit,
  forbidden_symbol,
  forbidden_flag,
  sandbox,
  contaminated,
  below_floor,
  not_faster,
  ambiguous,
  missing_evidence,
  self_reported,
  unsealed,
  infra,
};

struct ReasonInfo {
  Reason reason;
  std::string_view code;     ///< "WRONG_RESULT"
  std::string_view meaning;  ///< one line for --help and docs
};

[[nodiscard]] const std::vector<ReasonInfo>& reason_table();
[[nodiscard]] std::string_view code_of(Reason reason);  ///< "" for none
[[nodiscard]] std::optional<Reason> reason_from_code(std::string_view code);

}  // namespace tunesmith
