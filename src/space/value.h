// The value of a tuning parameter or expression: boolean, whole number, real or string.
// Semantics are Python's, as Kernel Tuner and the T1 format write them: True == 1, 7 // 2 == 3, -7 // 2 ==
// -4, 7 / 2 == 3.5, -7 % 3 == 2, and an integer and a real that are equal compare equal.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "base/json.h"

namespace tunesmith::space {

using Value = std::variant<bool, std::int64_t, double, std::string>;

enum class ValueKind { boolean, integer, real, string };

[[nodiscard]] ValueKind kind_of(const Value& value);
[[nodiscard]] const char* kind_name(ValueKind kind);
[[nodiscard]] Result<Value> value_from_json(const Node& node);
[[nodiscard]] json::value value_to_json(const Value& value);
/// For people: true, 16, 0.5, 128B.
[[nodiscard]] std::string value_text(const Value& value);
/// As a preprocessor macro's replacement: 1/0 for booleans, shortest digits, strings bare (never quoted).
[[nodiscard]] std::string macro_text(const Value& value);
[[nodiscard]] bool equal(const Value& a, const Value& b);
[[nodiscard]] bool truthy(const Value& value);
/// The number behind it (boolean counts as 0 or 1); nullopt-like error for strings.
[[nodiscard]] Result<double> number_of(const Value& value);

}  // namespace tunesmith::space
