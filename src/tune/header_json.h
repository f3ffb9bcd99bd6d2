// The run's header as JSON, and back. The seal key is not part of it.
#pragma once

#include "tune/journal.h"

namespace tunesmith::tune {

[[nodiscard]] json::object header_to_json(const RunHeader& header);
[[nodiscard]] Result<RunHeader> header_from_json(const Node& node);

}  // namespace tunesmith::tune
