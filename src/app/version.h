// What this binary is and how it was built.
#pragma once

#include <string>

#include "base/json.h"

namespace tunesmith::app {

[[nodiscard]] json::object version_facts();
[[nodiscard]] std::string version_text();

}  // namespace tunesmith::app
