#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace tunesmith {

namespace {

const char* kind_name(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return "true or false";
    case json::kind::int64:
    case json::kind::uint64:
    case json::kind::double_:
      return "a number";
    case json::kind::string:
      return "a string";
    case json::kind::array:
      return "an array";
    case json::kind::object:
      return "an object";
  }
  return "?";
}

std::string escape_step(std::string_view step) {
  std::string out;
  for (const char c : step) out += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return out;
}

}  // namespace

Result<Node> Node::read(const std::string& path) {
  TS_ASSIGN(std::string text, read_file(path));
  return parse(std::move(text), path);
}

Result<Node> Node::parse(std::string text, std::string file) {
  TS_ASSIGN(json::value root, parse_json(text, file));
  auto document = std::make_shared<Document>(Document{std::move(file), std::move(text), std::move(root)});
  Node node;
  node.m_value = &document->root;
  node.m_document = std::move(document);
  return node;
}

Place Node::place() const { return locate(m_document->text, m_document->file, m_pointer); }

tl::unexpected<Error> Node::error(std::string message, std::string mend) const {
  return fail(ErrorCode::invalid, std::move(message), std::move(mend), place());
}

Node Node::child(std::string_view step, const json::value& value) const {
  Node node;
  node.m_document = m_document;
  node.m_value = &value;
  node.m_pointer = m_pointer + "/" + escape_step(step);
  return node;
}

Result<std::string> Node::as_string() const {
  if (!m_value->is_string()) return error(fmt::format("must be a string, not {}", kind_name(*m_value)));
  return std::string(m_value->get_string());
}

Result<std::int64_t> Node::as_int() const {
  if (m_value->is_int64()) return m_value->get_int64();
  if (m_value->is_double()) {
    const double number = m_value->get_double();
    if (number == std::floor(number) && std::fabs(number) < 9e15) return static_cast<std::int64_t>(number);
  }
  return error(fmt::format("must be a whole number, not {}",
                           m_value->is_number() ? print_json_compact(*m_value) : kind_name(*m_value)));
}

Result<double> Node::as_double() const {
  if (m_value->is_double()) return m_value->get_double();
  if (m_value->is_int64()) return static_cast<double>(m_value->get_int64());
  if (m_value->is_uint64()) return static_cast<double>(m_value->get_uint64());
  return error(fmt::format("must be a number, not {}", kind_name(*m_value)));
}

Result<bool> Node::as_bool() const {
  if (!m_value->is_bool()) return error(fmt::format("must be true or false, not {}", kind_name(*m_value)));
  return m_value->get_bool();
}

Result<std::vector<Node>> Node::items() const {
  if (!m_value->is_array()) return error(fmt::format("must be an array, not {}", kind_name(*m_value)));
  std::vector<Node> nodes;
  const json::array& array = m_value->get_array();
  for (std::size_t i = 0; i < array.size(); ++i) nodes.push_back(child(std::to_string(i), array[i]));
  return nodes;
}

Result<std::vector<std::pair<std::string, Node>>> Node::members() const {
  if (!m_value->is_object()) return error(fmt::format("must be an object, not {}", kind_name(*m_value)));
  std::vector<std::pair<std::string, Node>> nodes;
  for (const auto& member : m_value->get_object()) {
    nodes.emplace_back(std::string(member.key()), child(member.key(), member.value()));
  }
  return nodes;
}

Result<std::vector<std::string>> Node::as_strings() const {
  TS_ASSIGN(const auto nodes, items());
  std::vector<std::string> strings;
  for (const Node& node : nodes) {
    TS_ASSIGN(std::string text, node.as_string());
    strings.push_back(std::move(text));
  }
  return strings;
}

Result<Node> Node::get(std::string_view key) const {
  if (!m_value->is_object()) return error(fmt::format("must be an object, not {}", kind_name(*m_value)));
  const auto found = m_value->get_object().find(key);
  if (found == m_value->get_object().end()) {
    return error(fmt::format("the key \"{}\" is missing", key), fmt::format("add \"{}\"", key));
  }
  return child(key, found->value());
}

std::optional<Node> Node::find(std::string_view key) const {
  if (!m_value->is_object()) return std::nullopt;
  const auto found = m_value->get_object().find(key);
  if (found == m_value->get_object().end()) return std::nullopt;
  return child(key, found->value());
}

Status Node::only_keys(const std::vector<std::string>& known) const {
  TS_ASSIGN(const auto nodes, members());
  for (const auto& [key, node] : nodes) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const std::string near = nearest(key, known);
    return node.error(fmt::format("unknown key \"{}\"", key),
                      near.empty() ? fmt::format("known keys are {}", join(known, ", "))
                                   : fmt::format("did you mean \"{}\"?", near));
  }
  return {};
}

Result<std::string> Node::string_or(std::string_view key, std::string fallback) const {
  if (!is_object()) return error(fmt::format("must be an object, not {}", kind_name(*m_value)));
  const auto node = find(key);
  return node ? node->as_string() : Result<std::string>(std::move(fallback));
}

Result<std::int64_t> Node::int_or(std::string_view key, std::int64_t fallback) const {
  if (!is_object()) return error(fmt::format("must be an object, not {}", kind_name(*m_value)));
  const auto node = find(key);
  return node ? node->as_int() : Result<std::int64_t>(fallback);
}

Result<double> Node::double_or(std::string_view key, double fallback) const {
  if (!is_object()) return error(fmt::format("must be an object, not {}", kind_name(*m_value)));
  const auto node = find(key);
  return node ? node->as_double() : Result<double>(fallback);
}

Result<bool> Node::bool_or(std::string_view key, bool fallback) const {
  if (!is_object()) return error(fmt::format("must be an object, not {}", kind_name(*m_value)));
  const auto node = find(key);
  return node ? node->as_bool() : Result<bool>(fallback);
}

}  // namespace tunesmith
