#include "base/json.h"

#include <fmt/format.h>

#include <boost/json/basic_parser_impl.hpp>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <set>

#include "base/text.h"

namespace tunesmith {

namespace {

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
    while (m_at < m_text.size() && std::string_view(" \t\r\n").find(m_text[m_at]) != std::string_view::npos)
      ++m_at;
  }

  /// True when there are escapes in it.
  bool skip_string() {
    bool escaped = false;
    ++m_at;
    while (m_at < m_text.size() && m_text[m_at] != '"') {
      const bool escape = m_text[m_at] == '\\';
      escaped = escaped || escape;
      m_at += escape ? 2 : 1;
    }
    ++m_at;
    return escaped;
  }

  std::string read_string() {
    const std::size_t start = m_at;
    const bool escaped = skip_string();
    if (!escaped) return std::string(m_text.substr(start + 1, m_at - start - 2));
    boost::system::error_code error;
    const json::value value =
        json::parse(json::string_view(m_text.data() + start, std::min(m_at, m_text.size()) - start), error);
    return error || !value.is_string() ? std::string() : std::string(value.get_string());
  }

  void skip_value(Found* found) {
    skip_space();
    if (m_at >= m_text.size()) return;
    const char c = m_text[m_at];
    if (c == '"') {
      skip_string();
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
      while (m_at < m_text.size() &&
             std::string_view(",]} \t\r\n").find(m_text[m_at]) == std::string_view::npos)
        ++m_at;
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
    } else if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) {
      ++place.column;  // characters, as editors count
    }
  }
  return place;
}

// Deep enough for any file of ours, far from the end of the stack.
constexpr std::size_t k_depth_limit = 64;

/// Builds the value from the parser's events, for one reason: Boost's own number conversion may be off by the
/// last digit, and then 1.1 comes back as 1.1000000000000001.
class Builder {
 public:
  using Code = boost::system::error_code;
  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();

  bool on_document_begin(Code&) {
    stack.reset();
    return true;
  }
  bool on_document_end(Code&) { return true; }
  bool on_object_begin(Code&) { return true; }
  bool on_object_end(std::size_t members, Code&) {
    stack.push_object(members);
    return true;
  }
  bool on_array_begin(Code&) { return true; }
  bool on_array_end(std::size_t items, Code&) {
    stack.push_array(items);
    return true;
  }
  bool on_key_part(std::string_view text, std::size_t, Code&) {
    stack.push_chars(text);
    return true;
  }
  bool on_key(std::string_view text, std::size_t, Code&) {
    stack.push_key(text);
    return true;
  }
  bool on_string_part(std::string_view text, std::size_t, Code&) {
    stack.push_chars(text);
    return true;
  }
  bool on_string(std::string_view text, std::size_t, Code&) {
    stack.push_string(text);
    return true;
  }
  bool on_number_part(std::string_view text, Code&) {
    m_number += text;
    return true;
  }
  bool on_int64(std::int64_t number, std::string_view, Code&) {
    m_number.clear();
    stack.push_int64(number);
    return true;
  }
  bool on_uint64(std::uint64_t number, std::string_view, Code&) {
    m_number.clear();
    stack.push_uint64(number);
    return true;
  }
  bool on_double(double, std::string_view text, Code& code) {
    m_number += text;
    double number = 0;
    const auto [end, problem] = std::from_chars(m_number.data(), m_number.data() + m_number.size(), number);
    // Out of range means too large or too near to zero; strtod tells them apart.
    if (problem != std::errc()) number = std::strtod(m_number.c_str(), nullptr);
    m_number.clear();
    if (!std::isfinite(number)) {
      code = json::error::exponent_overflow;
      return false;
    }
    stack.push_double(number);
    return true;
  }
  bool on_bool(bool truth, Code&) {
    stack.push_bool(truth);
    return true;
  }
  bool on_null(Code&) {
    stack.push_null();
    return true;
  }
  bool on_comment_part(std::string_view, Code&) { return true; }
  bool on_comment(std::string_view, Code&) { return true; }

  json::value_stack stack;

 private:
  std::string m_number;
};

}  // namespace

Result<json::value> parse_json(std::string_view text, const std::string& file) {
  if (text.starts_with("\xEF\xBB\xBF")) {
    return fail(ErrorCode::unreadable, "not valid JSON: it starts with a byte order mark",
                "save it as UTF-8 without one", place_of(text, file, 0, ""));
  }
  json::parse_options options;
  options.max_depth = k_depth_limit;
  json::basic_parser<Builder> parser(options);
  boost::system::error_code error;
  std::size_t consumed = parser.write_some(false, text.data(), text.size(), error);
  if (!error && consumed < text.size()) {
    while (consumed < text.size() &&
           std::string_view(" \t\r\n").find(text[consumed]) != std::string_view::npos)
      ++consumed;
    if (consumed < text.size()) error = json::error::extra_data;
  }
  if (!error && !parser.done()) error = json::error::incomplete;
  if (error == json::error::too_deep) {
    return fail(ErrorCode::unreadable, fmt::format("nested deeper than {} levels", k_depth_limit),
                "flatten it", place_of(text, file, consumed, ""));
  }
  if (error == json::error::exponent_overflow) {
    return fail(ErrorCode::invalid, "a number is too large", "use one below 1.7e308",
                place_of(text, file, consumed, ""));
  }
  if (error) {
    return fail(ErrorCode::unreadable, fmt::format("not valid JSON: {}", error.message()),
                "check the brackets, commas and quotes near this place", place_of(text, file, consumed, ""));
  }
  if (const auto repeated = Scanner(text).duplicate_key()) {
    return fail(ErrorCode::invalid, fmt::format("the key \"{}\" stands twice in one object", repeated->first),
                "keep one of them", place_of(text, file, repeated->second, ""));
  }
  return parser.handler().stack.release();
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

}  // namespace tunesmith
