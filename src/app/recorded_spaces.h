// Recordings as spaces to replay, for compare-strategies, and as priors for a search.
#pragma once

#include <string>
#include <vector>

#include "recording/recording.h"
#include "search/replay.h"

namespace tunesmith::app {

struct RecordedSpaces {
  std::vector<search::ReplaySpace> spaces;  ///< by name of their files
  std::vector<std::string> left_out;        ///< one line each: which file, and why
};

/// Every recording in a folder. Files of other kinds are passed over; a recording (or what by its name should
/// be one) that cannot be read, or in which everything failed, is left out with a line.
[[nodiscard]] Result<RecordedSpaces> read_recorded_spaces(const std::string& folder);

/// The absolute path behind --prior: a file, or the folder of a run (its name, a unique prefix, "latest").
[[nodiscard]] Result<std::string> find_prior(const std::string& file_or_run);
/// What is known of `space` from a recording or a run.
/// Points outside the space are passed over; nothing in common is an error.
[[nodiscard]] Result<search::Prior> read_prior(const std::string& file_or_run, const space::Space& space);

}  // namespace tunesmith::app
