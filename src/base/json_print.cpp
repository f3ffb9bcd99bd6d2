#include <fmt/format.h>

#include <cmath>

#include "base/json.h"
#include "base/text.h"

namespace tunesmith {

namespace {

/// What is no UTF-8 becomes U+FFFD: a log that a candidate wrote must not make its result unreadable.
void print_string(std::string_view text, std::string& out) {
  out += '"';
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const char c = text[0];
    if (length == 0) {
      out += "\\ufffd";
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (length == 1 && (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  out += '"';
}

void print_scalar(const json::value& value, std::string& out) {
  switch (value.kind()) {
    case json::kind::null:
      out += "null";
      break;
    case json::kind::bool_:
      out += value.get_bool() ? "true" : "false";
      break;
    case json::kind::int64:
      out += fmt::format("{}", value.get_int64());
      break;
    case json::kind::uint64:
      out += fmt::format("{}", value.get_uint64());
      break;
    case json::kind::double_:
      out += number_text(value.get_double());
      break;
    case json::kind::string:
      print_string(value.get_string(), out);
      break;
    default:
      break;
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
      out += pad;
      print_string(member.key(), out);
      out += ": ";
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
      print_string(member.key(), out);
      out += ':';
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

}  // namespace

std::string number_text(double number) {
  if (!std::isfinite(number)) return "null";
  std::string text = fmt::format("{}", number);
  // A whole double stays a double when it is read back.
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
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

}  // namespace tunesmith
