#include "base/json.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "base/file.h"
#include "base/text.h"

namespace tunesmith {

namespace {

void print_scalar(const json::value& value, std::string& out) {
  switch (value.kind()) {
    case json::kind::null: out += "null"; break;
    case json::kind::bool_: out += value.get_bool() ? "true" : "false"; break;
    case json::kind::int64: out += fmt::format("{}", value.get_int64()); break;
    case json::kind::uint64: out += fmt::format("{}", value.get_uint64()); break;
    case json::kind::double_: out += number_text(value.get_double()); break;
    default: out += json::serialize(value); break;  // strings: Boost's escaping is right
  }
}

bool is_scalar(const json::value& value) { return !value.is_object() && !value.is_array(); }

void print(const json::value& value, int indent, std::string& out) {
  const std::string pad(static_cast<std::size_t>(indent) + 2, ' ');
  const std::string close(static_cast<std::size_t>(indent), ' ');
  if (value.is_object()) {
    const json::object& object = value.get_object();
    if (object.empty()) {
      out += "{}";
      return;
    }
    out += "{\n";
    bool first = true;
    for (const auto& member : object) {
      if (!first) out += ",\n";
      first = false;
      out += pad + json::serialize(json::string(member.key())) + ": ";
      print(member.value(), indent + 2, out);
    }
    out += "\n" + close + "}";
  } else if (value.is_array()) {
    const json::array& array = value.get_array();
    bool flat = true;
    for (const json::value& item : array) flat = flat && is_scalar(item);
    if (flat) {
      std::string line = "[";
      for (std::size_t i = 0; i < array.size(); ++i) {
        if (i > 0) line += ", ";
        print_scalar(array[i], line);
      }
      line += "]";
      if (line.size() + static_cast<std::size_t>(indent) <= 100) {
        out += line;
        return;
      }
    }
    out += "[\n";
    for (std::size_t i = 0; i < array.size(); ++i) {
      if (i > 0) out += ",\n";
      out += pad;
      print(array[i], indent + 2, out);
    }
    out += "\n" + close + "]";
  } else {
    print_scalar(value, out);
  }
}

void print_compact(const json::value& value, std::string& out) {
  if (value.is_object()) {
    out += '{';
    bool first = true;
    for (const auto& member : value.get_object()) {
      if (!first) out += ',';
      first = false;
      out += json::serialize(json::string(member.key())) + ":";
      print_compact(member.value(), out);
    }
    out += '}';
  } else if (value.is_array()) {
    out += '[';
    bool first = true;
    for (const json::value& item : value.get_array()) {
      if (!first) out += ',';
      first = false;
      print_compact(item, out);
    }
    out += ']';
  } else {
    print_scalar(value, out);
  }
}

/// Walks valid JSON text to find where things stand; the text has been parsed before, so it is well formed.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : m_text(text) {}

  std::size_t find(const std::vector<std::string>& steps) {
    skip_space();
    std::size_t start = m_at;
    for (const std::string& step : steps) {
      if (!descend(step)) return start;
      skip_space();
      start = m_at;
    }
    return start;
  }

  /// The first key that an object at any depth repeats, with its offset.
  std::optional<std::pair<std::string, std::size_t>> duplicate_key() {
    skip_space();
    std::optional<std::pair<std::string, std::size_t>> found;
    skip_value(&found);
    return found;
  }

 private:
  using Found = std::optional<std::pair<std::string, std::size_t>>;

  void skip_space() {
    while (m_at < m_text.size() && std::string_view(" \t\r\n").find(m_text[m_at]) != std::string_view::npos) ++m_at;
  }

  std::string read_string() {
    const std::size_t start = m_at++;
    while (m_at < m_text.size() && m_text[m_at] != '"') m_at += m_text[m_at] == '\\' ? 2 : 1;
    ++m_at;
    boost::system::error_code error;
    const json::value value = json::parse(json::string_view(m_text.data() + start, std::min(m_at, m_text.size()) - start), error);
    return error || !value.is_string() ? std::string() : std::string(value.get_string());
  }

  void skip_value(Found* found) {
    skip_space();
    if (m_at >= m_text.size()) return;
    const char c = m_text[m_at];
    if (c == '"') {
      read_string();
    } else if (c == '{' || c == '[') {
      ++m_at;
      std::set<std::string> keys;
      while (true) {
        skip_space();
        if (m_at >= m_text.size()) return;
        if (m_text[m_at] == '}' || m_text[m_at] == ']') {
          ++m_at;
          return;
        }
        if (m_text[m_at] == ',') {
          ++m_at;
          continue;
        }
        if (c == '{') {
          const std::size_t key_at = m_at;
          std::string key = read_string();
          if (found != nullptr && !*found && !keys.insert(key).second) *found = std::pair(key, key_at);
          skip_space();
          ++m_at;  // the colon
        }
        skip_value(found);
      }
    } else {
      while (m_at < m_text.size() && std::string_view(",]} \t\r\n").find(m_text[m_at]) == std::string_view::npos) ++m_at;
    }
  }

  bool descend(const std::string& step) {
    if (m_at >= m_text.size()) return false;
    const char open = m_text[m_at];
    if (open != '{' && open != '[') return false;
    const std::size_t start = m_at++;
    std::size_t index = 0;
    while (true) {
      skip_space();
      if (m_at >= m_text.size() || m_text[m_at] == '}' || m_text[m_at] == ']') break;
      if (m_text[m_at] == ',') {
        ++m_at;
        continue;
      }
      if (open == '{') {
        const bool match = read_string() == step;
        skip_space();
        ++m_at;
        if (match) return true;
      } else if (std::to_string(index++) == step) {
        return true;
      }
      skip_value(nullptr);
    }
    m_at = start;
    return false;
  }

  std::string_view m_text;
  std::size_t m_at = 0;
};

Place place_of(std::string_view text, const std::string& file, std::size_t offset, std::string key) {
  Place place{file, 1, 1, std::move(key)};
  for (std::size_t i = 0; i < offset && i < text.size(); ++i) {
    if (text[i] == '\n') {
      ++place.line;
      place.column = 1;
    } else {
      ++place.column;
    }
  }
  return place;
}

const char* kind_name(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null: return "null";
    case json::kind::bool_: return "true or false";
    case json::kind::int64:
    case json::kind::uint64:
    case json::kind::double_: return "a number";
    case json::kind::string: return "a string";
    case json::kind::array: return "an array";
    case json::kind::object: return "an object";
  }
  return "?";
}

std::string escape_step(std::string_view step) {
  std::string out;
  for (const char c : step) out += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return out;
}

}  // namespace

std::string number_text(double number) {
  if (!std::isfinite(number)) return "null";
  if (number == std::floor(number) && std::fabs(number) < 1e15) return fmt::format("{:.1f}", number);
  return fmt::format("{}", number);
}

Result<json::value> parse_json(std::string_view text, const std::string& file) {
  json::parse_options options;
  options.max_depth = 64;
  json::stream_parser parser({}, options);
  boost::system::error_code error;
  std::size_t consumed = parser.write_some(text.data(), text.size(), error);
  if (!error && consumed < text.size()) {
    while (consumed < text.size() && std::string_view(" \t\r\n").find(text[consumed]) != std::string_view::npos) ++consumed;
    if (consumed < text.size()) error = json::error::extra_data;
  }
  if (!error) parser.finish(error);
  if (error) {
    return fail(ErrorCode::unreadable, fmt::format("not valid JSON: {}", error.message()),
                "check the brackets, commas and quotes near this place", place_of(text, file, consumed, ""));
  }
  if (const auto repeated = Scanner(text).duplicate_key()) {
    return fail(ErrorCode::invalid, fmt::format("the key \"{}\" stands twice in one object", repeated->first),
                "keep one of them", place_of(text, file, repeated->second, ""));
  }
  return parser.release();
}

std::string print_json(const json::value& value) {
  std::string out;
  print(value, 0, out);
  out += '\n';
  return out;
}

std::string print_json_compact(const json::value& value) {
  std::string out;
  print_compact(value, out);
  return out;
}

Place locate(std::string_view text, const std::string& file, std::string_view pointer) {
  std::vector<std::string> steps;
  if (!pointer.empty()) {
    for (const std::string_view part : split(pointer.substr(1), '/')) {
      std::string step;
      for (std::size_t i = 0; i < part.size(); ++i) {
        if (part[i] == '~' && i + 1 < part.size()) {
          step += part[++i] == '1' ? '/' : '~';
        } else {
          step += part[i];
        }
      }
      steps.push_back(step);
    }
  }
  return place_of(text, file, Scanner(text).find(steps), std::string(pointer));
}

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
  return error(fmt::format("must be a whole number, not {}", m_value->is_number() ? print_json_compact(*m_value) : kind_name(*m_value)));
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
                      near.empty() ? fmt::format("known keys are {}", join(known, ", ")) : fmt::format("did you mean \"{}\"?", near));
  }
  return {};
}

Result<std::string> Node::string_or(std::string_view key, std::string fallback) const {
  const auto node = find(key);
  return node ? node->as_string() : Result<std::string>(std::move(fallback));
}

Result<std::int64_t> Node::int_or(std::string_view key, std::int64_t fallback) const {
  const auto node = find(key);
  return node ? node->as_int() : Result<std::int64_t>(fallback);
}

Result<double> Node::double_or(std::string_view key, double fallback) const {
  const auto node = find(key);
  return node ? node->as_double() : Result<double>(fallback);
}

Result<bool> Node::bool_or(std::string_view key, bool fallback) const {
  const auto node = find(key);
  return node ? node->as_bool() : Result<bool>(fallback);
}

}  // namespace tunesmith
