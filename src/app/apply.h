// Texts that carry a winner into the user's code: a header of #defines, JSON, a shape-to-configuration table.
#pragma once

#include <string>
#include <vector>

#include "app/run_view.h"
#include "case/case.h"
#include "tune/journal.h"

namespace tunesmith::app {

/// Which trial serves a shape best. Another than the winner only where it is better beyond the winner's
/// figure by more than `margin`, with the upper end of its interval: a lucky median is no reason to build one
/// more variant.
struct Choice {
  std::string shape;
  std::vector<std::int64_t> dimensions;
  const tune::Trial* trial = nullptr;
  double log_ratio = 0;  ///< against the baseline
};
[[nodiscard]] std::vector<Choice> choose_per_shape(const Case& c, const std::vector<tune::Trial>& trials,
                                                   const tune::Trial& winner, double margin = 0.02);

/// A C header: one #define per parameter, and for several shapes NAME_DISPATCH(X).
[[nodiscard]] Result<std::string> defines_header(const Case& c, const tune::RunHeader& header,
                                                 const Winner& best, const std::vector<Choice>& choices);
[[nodiscard]] json::object dispatch_json(const Case& c, const tune::RunHeader& header, const Winner& best,
                                         const std::vector<Choice>& choices);

}  // namespace tunesmith::app
