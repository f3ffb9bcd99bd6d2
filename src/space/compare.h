// A Cell is a Value without ownership: what expressions compute with. Strings point into the expression or
// the environment. Comparisons are exact across integers and reals, as in Python.
#pragma once

#include <cstdint>
#include <string_view>

#include "space/value.h"

namespace tunesmith::space {

struct Cell {
  ValueKind kind = ValueKind::integer;
  std::int64_t whole = 0;  ///< boolean (0, 1) and integer
  double real = 0;
  std::string_view text;

  [[nodiscard]] bool is_number() const { return kind != ValueKind::string; }
  [[nodiscard]] bool is_whole() const { return kind == ValueKind::boolean || kind == ValueKind::integer; }
  [[nodiscard]] double as_double() const { return is_whole() ? static_cast<double>(whole) : real; }
};

[[nodiscard]] inline Cell cell(bool value) { return {ValueKind::boolean, value ? 1 : 0, 0, {}}; }
[[nodiscard]] inline Cell cell(std::int64_t value) { return {ValueKind::integer, value, 0, {}}; }
[[nodiscard]] inline Cell cell(double value) { return {ValueKind::real, 0, value, {}}; }
[[nodiscard]] inline Cell cell(std::string_view value) { return {ValueKind::string, 0, 0, value}; }

[[nodiscard]] Cell cell_of(const Value& value);
[[nodiscard]] Value value_of(const Cell& cell);
[[nodiscard]] bool truthy(const Cell& cell);

/// `unordered`: NaN, or a string against a number (which are never equal and have no order).
enum class Order { less, equal, greater, unordered };
[[nodiscard]] Order compare(const Cell& a, const Cell& b);

}  // namespace tunesmith::space
