// A recording as text, in the forms that others can read.
#pragma once

#include <string>

#include "recording/recording.h"

namespace tunesmith::recording {

[[nodiscard]] std::string to_own(const Recording& recording);
/// T4 results, with kernel and device under "metadata". Failures keep their kind as far as T4 has a word.
[[nodiscard]] std::string to_t4(const Recording& recording);

}  // namespace tunesmith::recording
