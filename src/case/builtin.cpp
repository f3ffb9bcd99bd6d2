#include "case/builtin.h"

#include <fmt/format.h>

#include <map>

#include "base/text.h"

namespace tunesmith {

namespace {

const Buffer* find_buffer(const Case& c, const std::string& name) {
  for (const Argument& argument : c.arguments) {
    const auto* buffer = std::get_if<Buffer>(&argument);
    if (buffer != nullptr && buffer->name == name) return buffer;
  }
  return nullptr;
}

std::string usage(const BuiltinInfo& info) {
  std::vector<std::string> parts;
  for (const BuiltinRole& role : info.roles) {
    parts.push_back(fmt::format("{}[{}]", role.role, join({role.sides.begin(), role.sides.end()}, ",")));
  }
  return fmt::format("{} takes {}", info.name, join(parts, " "));
}

Status check_role(const BuiltinInfo& info, const BuiltinRole& role, const Buffer* buffer, const Node& node) {
  if (buffer == nullptr) {
    return node.error(fmt::format("role {} of {} is bound to \"{}\", which is no buffer argument", role.role,
                                  info.name, node.is_string() ? std::string(node.value().get_string()) : ""),
                      "name a buffer of \"arguments\"");
  }
  if (!is_float(buffer->dtype)) {
    return node.error(fmt::format("{} is {}, and {} works on floating-point buffers", buffer->name,
                                  name_of(buffer->dtype), info.name),
                      "give a reference source of your own");
  }
  const bool writes = buffer->role == Role::out || buffer->role == Role::inout;
  if (role.output && !writes)
    return node.error(
        fmt::format("{} is the result of {}, but its role is not out or inout", buffer->name, info.name));
  if (!role.output && buffer->role != Role::in) {
    return node.error(fmt::format("{} is an input of {}, but its role is not in", buffer->name, info.name));
  }
  if (buffer->shape.size() != role.sides.size()) {
    return node.error(fmt::format("{} has {} dimensions, and role {} needs {}", buffer->name,
                                  buffer->shape.size(), role.role, role.sides.size()),
                      usage(info));
  }
  return {};
}

Status check_sides(const Case& c, const BuiltinInfo& info, const Shape& shape, const Node& bind) {
  std::map<std::string_view, std::pair<std::int64_t, std::string>> seen;
  for (const BuiltinRole& role : info.roles) {
    const Buffer* buffer = find_buffer(c, c.reference.bind.at(std::string(role.role)));
    TS_ASSIGN(const auto extent, buffer_extent(c, *buffer, shape));
    for (std::size_t i = 0; i < extent.size(); ++i) {
      const std::string here = fmt::format("side {} of {}", i + 1, buffer->name);
      const auto [at, fresh] = seen.emplace(role.sides[i], std::pair(extent[i], here));
      if (fresh || at->second.first == extent[i]) continue;
      return bind.error(fmt::format("{} is {}, but {} is {} at shape \"{}\"", here, extent[i],
                                    at->second.second, at->second.first, shape.name),
                        usage(info));
    }
  }
  return {};
}

}  // namespace

const std::vector<BuiltinInfo>& builtin_table() {
  static const std::vector<BuiltinInfo> table = {
      {"gemm", "c = a b", {{"a", false, {"m", "k"}}, {"b", false, {"k", "n"}}, {"c", true, {"m", "n"}}}},
      {"attention",
       "o = softmax(q k^T / sqrt(dim)) v, for each head",
       {{"q", false, {"heads", "seq", "dim"}},
        {"k", false, {"heads", "seq", "dim"}},
        {"v", false, {"heads", "seq", "dim"}},
        {"o", true, {"heads", "seq", "dim"}}}},
      {"softmax_rows",
       "y = softmax(x), row by row",
       {{"x", false, {"rows", "cols"}}, {"y", true, {"rows", "cols"}}}},
      {"layer_norm",
       "y = (x - mean) / sqrt(variance + 1e-5) * gamma + beta, row by row",
       {{"x", false, {"rows", "cols"}},
        {"gamma", false, {"cols"}},
        {"beta", false, {"cols"}},
        {"y", true, {"rows", "cols"}}}},
  };
  return table;
}

const BuiltinInfo* find_builtin(std::string_view name) {
  for (const BuiltinInfo& info : builtin_table()) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

Status check_builtin(const Case& c, const Node& node) {
  const BuiltinInfo* info = find_builtin(c.reference.builtin);
  TS_ASSIGN(const Node bind, node.get("bind"));
  std::map<std::string, std::string> bound;
  for (const BuiltinRole& role : info->roles) {
    const auto at = c.reference.bind.find(std::string(role.role));
    if (at == c.reference.bind.end())
      return bind.error(fmt::format("role {} of {} is not bound", role.role, info->name), usage(*info));
    TS_ASSIGN(const Node entry, bind.get(role.role));
    TS_TRY(check_role(*info, role, find_buffer(c, at->second), entry));
    if (const auto [other, fresh] = bound.emplace(at->second, role.role); !fresh) {
      return entry.error(fmt::format("{} is bound to both {} and {}", at->second, other->second, role.role));
    }
  }
  // An output that the reference does not compute would never be checked.
  for (const Argument& argument : c.arguments) {
    const auto* buffer = std::get_if<Buffer>(&argument);
    if (buffer == nullptr || (buffer->role != Role::out && buffer->role != Role::inout)) continue;
    if (!bound.contains(buffer->name)) {
      return bind.error(fmt::format("the output {} is not bound, so it would never be checked", buffer->name),
                        "give a reference source that computes it, or make it a workspace");
    }
  }
  for (const Shape& shape : c.shapes) TS_TRY(check_sides(c, *info, shape, bind));
  for (const Shape& shape : c.held_out_shapes) TS_TRY(check_sides(c, *info, shape, bind));
  return {};
}

}  // namespace tunesmith
