#include "space/value.h"

#include <fmt/format.h>

#include <cmath>

#include "space/compare.h"

namespace tunesmith::space {

ValueKind kind_of(const Value& value) { return static_cast<ValueKind>(value.index()); }

const char* kind_name(ValueKind kind) {
  switch (kind) {
    case ValueKind::boolean:
      return "boolean";
    case ValueKind::integer:
      return "integer";
    case ValueKind::real:
      return "real";
    case ValueKind::string:
      return "string";
  }
  return "value";
}

Result<Value> value_from_json(const Node& node) {
  const json::value& value = node.value();
  switch (value.kind()) {
    case json::kind::bool_:
      return Value(value.get_bool());
    case json::kind::int64:
      return Value(value.get_int64());
    case json::kind::uint64:
      return node.error("the number does not fit into 64 bits with a sign");
    case json::kind::double_:
      return Value(value.get_double());
    case json::kind::string:
      return Value(std::string(value.get_string()));
    default:
      return node.error("expected a number, a string, true or false");
  }
}

json::value value_to_json(const Value& value) {
  return std::visit([](const auto& held) { return json::value(held); }, value);
}

std::string value_text(const Value& value) {
  if (const bool* held = std::get_if<bool>(&value)) return *held ? "true" : "false";
  if (const std::int64_t* held = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *held);
  if (const double* held = std::get_if<double>(&value)) return number_text(*held);
  return std::get<std::string>(value);
}

std::string macro_text(const Value& value) {
  if (const bool* held = std::get_if<bool>(&value)) return *held ? "1" : "0";
  std::string text = value_text(value);
  // A real stays one in C: 1/4 and 1/4.0 are different programs.
  if (std::holds_alternative<double>(value) && text.find_first_of(".eEn") == std::string::npos) text += ".0";
  return text;
}

bool equal(const Value& a, const Value& b) { return compare(cell_of(a), cell_of(b)) == Order::equal; }

bool truthy(const Value& value) { return truthy(cell_of(value)); }

Result<double> number_of(const Value& value) {
  const Cell cell = cell_of(value);
  if (cell.kind == ValueKind::string)
    return fail(ErrorCode::invalid, fmt::format("expected a number, got the string '{}'", cell.text));
  return cell.as_double();
}

}  // namespace tunesmith::space
