// Reading runs for people: opening one by name, its winner, and what every trial is worth against the
// baseline.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/command.h"
#include "tune/journal.h"

namespace tunesmith::app {

/// The run that the argument RUN names ("latest" when absent), opened for reading while others may write.
[[nodiscard]] Result<tune::Journal> open_run(const Context& context);

/// Trial and its worth against the baseline, per scored shape: log ratios chained through the incumbents it
/// raced.
struct Standing {
  const tune::Trial* trial = nullptr;
  std::vector<double> log_ratio;       ///< per shape, infinite where it was not timed; empty: not measured
  std::vector<double> log_ratio_high;  ///< upper end of the interval, chained
};

/// One entry a trial, in order. `trials` must outlive it.
[[nodiscard]] std::vector<Standing> standings(const std::vector<tune::Trial>& trials);

/// What a run came to: its confirmed winner, or while it is unfinished (or was broken off) the best kept
/// trial.
struct Winner {
  const tune::Trial* trial = nullptr;  ///< nullptr: the baseline stands
  double log_ratio = 0;                ///< against the baseline; of the confirmation where there is one
  bool confirmed = false;
};
[[nodiscard]] Winner winner_of(const tune::Journal& journal, const std::vector<tune::Trial>& trials);

/// Valid trials, fastest first.
[[nodiscard]] std::vector<const tune::Trial*> ranking(const std::vector<tune::Trial>& trials);

/// "MR=4 PACK_B=true"; with `base`, only what differs from it.
[[nodiscard]] std::string config_text(const json::object& config, const json::object* base = nullptr);

/// The baseline's configuration; empty when the baseline is another source.
[[nodiscard]] json::object baseline_config(const tune::Journal& journal);

}  // namespace tunesmith::app
