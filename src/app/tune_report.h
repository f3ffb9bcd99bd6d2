// The end of a run for people and for scripts: one table worth a screenshot, or its JSON.
#pragma once

#include <string>

#include "app/command.h"
#include "app/inputs.h"
#include "app/tally.h"
#include "tune/loop.h"

namespace tunesmith::app {

struct RunEnd {
  const Case* c = nullptr;
  const tune::RunHeader* header = nullptr;
  std::string folder;
  const tune::Summary* summary = nullptr;
  Tally tally;
  std::string result_file;  ///< "" when the baseline stands
};

/// Speed-up over the baseline with its interval: of the confirmation where there is one, else of the trial.
struct Gain {
  bool confirmed = false;
  double speedup = 1, low = 1, high = 1, confidence = 0;
  double latency_ms = 0, baseline_latency_ms = 0;  ///< weighted geometric means over the shapes
  double floor_ms = 0;
  int pairs = 0;
};

[[nodiscard]] Gain gain_of(const tune::Summary& summary);
[[nodiscard]] bool passed(const tune::Summary& summary);  ///< a winner that its confirmation did not refuse
[[nodiscard]] std::string closing_table(const RunEnd& end, bool color, int columns, bool utf8);
[[nodiscard]] json::object closing_json(const RunEnd& end);

}  // namespace tunesmith::app
