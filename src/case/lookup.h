// Where case files are found: a path, or a bare name in the folders of ready cases.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace tunesmith {

/// ./cases, then cases/ and share/tunesmith/cases/ beside the folder of the running program; only those that
/// exist.
[[nodiscard]] std::vector<std::string> case_folders();
/// Names (without .json) of all cases in those folders, sorted, each once.
[[nodiscard]] std::vector<std::string> case_names();
/// The file of a path or bare name; a name that is found nowhere is an error with the nearest known one.
[[nodiscard]] Result<std::string> find_case_file(const std::string& path_or_name);

}  // namespace tunesmith
