// Counting a run's trials: what was tried, what failed and why.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tune/journal.h"

namespace tunesmith::app {

struct Tally {
  std::uint64_t tried = 0;    ///< ended, without the baseline
  std::uint64_t correct = 0;  ///< valid: built, right and measured
  std::uint64_t kept = 0;
  std::uint64_t duplicates = 0;
  std::map<std::string, std::uint64_t> failed;  ///< reason code -> how many, for those that are not valid

  [[nodiscard]] std::uint64_t failures() const;
  [[nodiscard]] std::string text() const;  ///< "42: 30 correct, 12 failed (9 BUILD_FAILED, 3 WRONG_RESULT)"
  [[nodiscard]] json::object to_json() const;
};

[[nodiscard]] Tally tally_of(const std::vector<tune::Trial>& trials);

}  // namespace tunesmith::app
