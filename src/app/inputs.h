// Inputs that several verbs read: case, gate and objective, from flags or from the case itself.
#pragma once

#include <optional>
#include <string>

#include "app/command.h"
#include "case/case.h"
#include "judge/gate.h"
#include "judge/objective.h"

namespace tunesmith::app {

/// What the engineer decided: which results pass, and how those that pass are ranked.
struct Rules {
  std::optional<Case> of;  ///< the case, when one was named
  judge::Gate gate;
  judge::Objective objective;
};

/// From --case (or CASE), --gate, --objective and --tol, as far as they were given; the standard ones
/// otherwise.
[[nodiscard]] Result<Rules> read_rules(const Context& context);
[[nodiscard]] Result<Rules> rules_of(const Case& c, const Arguments& arguments);

}  // namespace tunesmith::app
