// The built-in references' roles and how their buffers must fit together; the arithmetic itself is the
// bench's.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "case/case.h"

namespace tunesmith {

struct BuiltinRole {
  std::string_view role;
  bool output = false;
  std::vector<std::string_view> sides;  ///< letters of its dimensions: equal letters must be equal numbers
};

struct BuiltinInfo {
  std::string_view name;
  std::string_view meaning;
  std::vector<BuiltinRole> roles;
};

[[nodiscard]] const std::vector<BuiltinInfo>& builtin_table();
[[nodiscard]] const BuiltinInfo* find_builtin(std::string_view name);

/// Every role bound to a float buffer of the right direction and rank, sides equal at every shape. `node` is
/// the case's "reference".
[[nodiscard]] Status check_builtin(const Case& c, const Node& node);

}  // namespace tunesmith
