// What opening the bench established, as JSON and back.
#pragma once

#include "base/json.h"
#include "bench/bench.h"

namespace tunesmith::tune {

[[nodiscard]] json::object opening_to_json(const bench::Opening& opening);
[[nodiscard]] Result<bench::Opening> opening_from_json(const Node& node);

}  // namespace tunesmith::tune
