#include "wire/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.h"

namespace tunesmith::wire {

namespace {

constexpr std::size_t k_depth_limit = 256;         // tools' schemas nest; nothing honest nests this deep
constexpr std::size_t k_text_limit = 1ULL << 30U;  // offsets are 32 bits wide
constexpr std::string_view k_replacement = "\xEF\xBF\xBD";

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void append_utf8(std::uint32_t code, std::string& out) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0U | (code >> 6U));
    out += static_cast<char>(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0U | (code >> 12U));
    out += static_cast<char>(0x80U | ((code >> 6U) & 0x3FU));
    out += static_cast<char>(0x80U | (code & 0x3FU));
  } else {
    out += static_cast<char>(0xF0U | (code >> 18U));
    out += static_cast<char>(0x80U | ((code >> 12U) & 0x3FU));
    out += static_cast<char>(0x80U | ((code >> 6U) & 0x3FU));
    out += static_cast<char>(0x80U | (code & 0x3FU));
  }
}

std::uint32_t hex4(std::string_view text) {
  std::uint32_t code = 0;
  for (std::size_t i = 0; i < 4; ++i) code = code * 16 + static_cast<std::uint32_t>(hex_value(text[i]));
  return code;
}

/// `inner` is the valid content between the quotes.
std::string unescape(std::string_view inner) {
  std::string out;
  out.reserve(inner.size());
  for (std::size_t i = 0; i < inner.size(); ++i) {
    const std::size_t escape = std::min(inner.find('\\', i), inner.size());
    out += inner.substr(i, escape - i);
    i = escape;
    if (i == inner.size()) break;
    switch (inner[++i]) {
      case 'n':
        out += '\n';
        break;
      case 't':
        out += '\t';
        break;
      case 'r':
        out += '\r';
        break;
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'u': {
        const std::uint32_t code = hex4(inner.substr(i + 1));
        i += 4;
        if (code < 0xD800 || code > 0xDFFF) {
          append_utf8(code, out);
          break;
        }
        const bool pair = code < 0xDC00 && inner.substr(i + 1).starts_with("\\u") && i + 6 < inner.size();
        const std::uint32_t low = pair ? hex4(inner.substr(i + 3)) : 0;
        if (low >= 0xDC00 && low <= 0xDFFF) {
          append_utf8(0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00), out);
          i += 6;
        } else {
          out += k_replacement;
        }
        break;
      }
      default:  // quote, slash, backslash
        out += inner[i];
    }
  }
  return out;
}

Place place_at(std::string_view text, std::size_t offset, std::string what, std::string key) {
  Place place{std::move(what), 1, 1, std::move(key)};
  for (std::size_t i = 0; i < offset && i < text.size(); ++i) {
    if (text[i] == '\n') {
      ++place.line;
      place.column = 1;
    } else if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) {
      ++place.column;
    }
  }
  return place;
}

}  // namespace

/// Fills a document's table in one pass, without recursion.
class DocumentParser {
 public:
  DocumentParser(Document& document, Duplicates duplicates)
      : m_document(document), m_text(document.m_text), m_duplicates(duplicates) {}

  Status run() {
    m_document.m_entries.reserve(m_text.size() / 12 + 4);
    skip_space();
    TS_TRY(value());
    while (!m_open.empty()) TS_TRY(step());
    skip_space();
    if (m_at < m_text.size()) return wrong("something stands after the value");
    return {};
  }

 private:
  using Kind = Document::Kind;
  struct Open {
    std::uint32_t index;
    bool first = true;
  };

  tl::unexpected<Error> wrong(const std::string& message) const {
    return fail(ErrorCode::invalid, "not valid JSON: " + message, "",
                place_at(m_text, m_at, m_document.m_what, ""));
  }

  void skip_space() {
    while (m_at < m_text.size() && is_space(m_text[m_at])) ++m_at;
  }

  /// One more item or member of the innermost open value, or its end.
  Status step() {
    Open& open = m_open.back();
    const bool object = m_document.m_entries[open.index].kind == Kind::object;
    skip_space();
    if (m_at >= m_text.size()) return wrong("it ends too early");
    if (m_text[m_at] == (object ? '}' : ']')) return close();
    if (!open.first) {
      if (m_text[m_at] != ',') return wrong("a comma or bracket is missing");
      ++m_at;
      skip_space();
      if (m_at >= m_text.size()) return wrong("it ends too early");
    }
    open.first = false;
    ++m_document.m_entries[open.index].count;
    if (object) {
      if (m_text[m_at] != '"') return wrong("a key in quotes is missing");
      TS_TRY(string());
      skip_space();
      if (m_at >= m_text.size() || m_text[m_at] != ':') return wrong("a colon is missing");
      ++m_at;
      skip_space();
    }
    return value();
  }

  Status close() {
    const std::uint32_t index = m_open.back().index;
    Document::Entry& entry = m_document.m_entries[index];
    ++m_at;
    entry.end = static_cast<std::uint32_t>(m_at);
    entry.next = static_cast<std::uint32_t>(m_document.m_entries.size());
    m_open.pop_back();
    if (entry.kind == Kind::object && m_duplicates == Duplicates::refused) return check_keys(index);
    return {};
  }

  Status check_keys(std::uint32_t index) {
    const auto& entries = m_document.m_entries;
    std::vector<std::pair<std::string, std::uint32_t>> keys;
    for (std::uint32_t i = index + 1; i < entries[index].next; i = entries[i + 1].next) {
      const std::string_view inner =
          std::string_view(m_text).substr(entries[i].begin + 1, entries[i].end - entries[i].begin - 2);
      keys.emplace_back(entries[i].escaped ? unescape(inner) : std::string(inner), entries[i].begin);
    }
    std::sort(keys.begin(), keys.end());
    for (std::size_t i = 1; i < keys.size(); ++i) {
      if (keys[i].first != keys[i - 1].first) continue;
      return fail(ErrorCode::invalid, fmt::format("the key \"{}\" stands twice in one object", keys[i].first),
                  "keep one of them", place_at(m_text, keys[i].second, m_document.m_what, ""));
    }
    return {};
  }

  Status value() {
    if (m_at >= m_text.size()) return wrong("a value is missing");
    const char c = m_text[m_at];
    if (c == '"') return string();
    if (c == '{' || c == '[') {
      if (m_open.size() >= k_depth_limit)
        return wrong(fmt::format("nested deeper than {} levels", k_depth_limit));
      const auto index = static_cast<std::uint32_t>(m_document.m_entries.size());
      add(c == '{' ? Kind::object : Kind::array, m_at);
      m_open.push_back({index});
      ++m_at;
      return {};
    }
    if (c == '-' || is_digit(c)) return number();
    for (const std::string_view word : {"null", "true", "false"}) {
      if (!std::string_view(m_text).substr(m_at).starts_with(word)) continue;
      const std::size_t begin = m_at;
      m_at += word.size();
      add(word == "null" ? Kind::null : Kind::boolean, begin);
      return {};
    }
    return wrong("a value is missing");
  }

  void add(Kind kind, std::size_t begin, bool escaped = false) {
    const auto next = static_cast<std::uint32_t>(m_document.m_entries.size() + 1);
    m_document.m_entries.push_back(
        {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(m_at), next, 0, kind, escaped});
  }

  Status string() {
    const std::size_t begin = m_at++;
    bool escaped = false;
    while (true) {
      while (m_at < m_text.size() && m_text[m_at] != '"' && m_text[m_at] != '\\' &&
             static_cast<unsigned char>(m_text[m_at]) >= 0x20)
        ++m_at;
      if (m_at >= m_text.size()) return wrong("a string has no end");
      if (m_text[m_at] == '"') break;
      if (m_text[m_at] != '\\') return wrong("a control character in a string must be escaped");
      escaped = true;
      if (++m_at >= m_text.size()) return wrong("a string has no end");
      const char c = m_text[m_at++];
      if (c == 'u') {
        for (int i = 0; i < 4; ++i, ++m_at) {
          if (m_at >= m_text.size() || hex_value(m_text[m_at]) < 0) return wrong("\\u needs four hex digits");
        }
      } else if (std::string_view("\"\\/bfnrt").find(c) == std::string_view::npos) {
        return wrong("an unknown escape in a string");
      }
    }
    ++m_at;
    add(Kind::string, begin, escaped);
    return {};
  }

  bool digits() {
    const std::size_t begin = m_at;
    while (m_at < m_text.size() && is_digit(m_text[m_at])) ++m_at;
    return m_at > begin;
  }

  Status number() {
    const std::size_t begin = m_at;
    if (m_text[m_at] == '-') ++m_at;
    if (m_at < m_text.size() && m_text[m_at] == '0') {
      ++m_at;
    } else if (!digits()) {
      return wrong("a number has no digits");
    }
    if (m_at < m_text.size() && m_text[m_at] == '.') {
      ++m_at;
      if (!digits()) return wrong("a number has no digits after its point");
    }
    if (m_at < m_text.size() && (m_text[m_at] == 'e' || m_text[m_at] == 'E')) {
      ++m_at;
      if (m_at < m_text.size() && (m_text[m_at] == '+' || m_text[m_at] == '-')) ++m_at;
      if (!digits()) return wrong("a number has no digits in its exponent");
    }
    add(Kind::number, begin);
    return {};
  }

  Document& m_document;
  const std::string& m_text;
  Duplicates m_duplicates;
  std::size_t m_at = 0;
  std::vector<Open> m_open;
};

Result<Document> Document::parse(std::string text, std::string what, Duplicates duplicates) {
  Document document;
  document.m_text = std::move(text);
  document.m_what = std::move(what);
  if (document.m_text.size() >= k_text_limit) {
    return fail(ErrorCode::invalid, "the JSON text is 1 GiB or longer", "", {document.m_what, 0, 0, ""});
  }
  TS_TRY(DocumentParser(document, duplicates).run());
  return document;
}

View Document::root() const { return {this, 0, View::k_no_key}; }

const char* View::kind_name() const {
  if (m_document == nullptr) return "absent";
  switch (entry().kind) {
    case Document::Kind::null:
      return "null";
    case Document::Kind::boolean:
      return "true or false";
    case Document::Kind::number:
      return "a number";
    case Document::Kind::string:
      return "a string";
    case Document::Kind::array:
      return "an array";
    case Document::Kind::object:
      return "an object";
  }
  return "?";
}

View View::operator[](std::string_view key) const {
  View found;
  if (!is_object()) return found;
  const auto& entries = m_document->m_entries;
  for (std::uint32_t i = m_index + 1; i < entry().next; i = entries[i + 1].next) {
    if (View(m_document, i, k_no_key).equals(key)) found = View(m_document, i + 1, i);
  }
  return found;
}

std::vector<View> View::items() const {
  std::vector<View> views;
  if (!is_array()) return views;
  views.reserve(entry().count);
  for (std::uint32_t i = m_index + 1; i < entry().next; i = m_document->m_entries[i].next) {
    views.push_back(View(m_document, i, k_no_key));
  }
  return views;
}

std::vector<View> View::members() const {
  std::vector<View> views;
  if (!is_object()) return views;
  views.reserve(entry().count);
  for (std::uint32_t i = m_index + 1; i < entry().next; i = m_document->m_entries[i + 1].next) {
    views.push_back(View(m_document, i + 1, i));
  }
  return views;
}

std::size_t View::size() const { return m_document == nullptr ? 0 : entry().count; }

std::string View::key() const {
  return m_document == nullptr || m_key == k_no_key ? "" : View(m_document, m_key, k_no_key).str();
}

std::string_view View::raw() const {
  if (m_document == nullptr) return {};
  return std::string_view(m_document->m_text).substr(entry().begin, entry().end - entry().begin);
}

std::string View::str() const {
  if (!is_string()) return {};
  const std::string_view text = raw();
  const std::string_view inner = text.substr(1, text.size() - 2);
  return entry().escaped ? unescape(inner) : std::string(inner);
}

bool View::equals(std::string_view text) const {
  if (!is_string()) return false;
  if (entry().escaped) return str() == text;
  return entry().end - entry().begin == text.size() + 2 && raw().substr(1, text.size()) == text;
}

std::optional<std::int64_t> View::integer() const {
  if (!is_number()) return std::nullopt;
  const std::string_view text = raw();
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto whole = std::from_chars(text.data(), end, number);
  if (whole.ec == std::errc() && whole.ptr == end) return number;
  double real = 0;
  const auto parsed = std::from_chars(text.data(), end, real);
  if (parsed.ec != std::errc() || std::fabs(real) > 9e15 || real != std::floor(real)) return std::nullopt;
  return static_cast<std::int64_t>(real);
}

std::optional<bool> View::boolean() const {
  if (!is_bool()) return std::nullopt;
  return raw() == "true";
}

std::string View::pointer() const {
  std::string out;
  const auto& entries = m_document->m_entries;
  std::uint32_t parent = 0;
  while (parent != m_index) {
    const bool object = entries[parent].kind == Document::Kind::object;
    std::size_t number = 0;
    for (std::uint32_t i = parent + 1;; ++number) {
      const std::uint32_t child = object ? i + 1 : i;
      if (m_index < entries[child].next) {
        out += '/';
        for (const char c : object ? View(m_document, i, k_no_key).str() : std::to_string(number)) {
          out += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
        }
        parent = child;
        break;
      }
      i = entries[child].next;
    }
  }
  return out;
}

tl::unexpected<Error> View::error(std::string message, std::string mend) const {
  if (m_document == nullptr) return fail(ErrorCode::invalid, std::move(message), std::move(mend));
  return fail(ErrorCode::invalid, std::move(message), std::move(mend),
              place_at(m_document->m_text, entry().begin, m_document->m_what, pointer()));
}

void Writer::comma() {
  if (m_out.empty()) return;
  const char last = m_out.back();
  if (last != '{' && last != '[' && last != ':' && last != '\n') m_out += ',';
}

Writer& Writer::open(char bracket) {
  comma();
  m_out += bracket;
  return *this;
}

Writer& Writer::close(char bracket) {
  m_out += bracket;
  return *this;
}

Writer& Writer::key(std::string_view name) {
  string(name);
  m_out += ':';
  return *this;
}

Writer& Writer::string(std::string_view text) {
  comma();
  m_out += '"';
  while (!text.empty()) {
    // Plain ASCII in one piece: nearly all of the traffic.
    std::size_t plain = 0;
    while (plain < text.size() && text[plain] >= 0x20 && text[plain] < 0x7F && text[plain] != '"' &&
           text[plain] != '\\')
      ++plain;
    m_out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const char c = text[0];
    const std::size_t length = utf8_length(text);
    if (length == 0) {
      m_out += k_replacement;
    } else if (length > 1) {
      m_out += text.substr(0, length);
    } else if (c == '"' || c == '\\') {
      m_out += '\\';
      m_out += c;
    } else if (c == '\n') {
      m_out += "\\n";
    } else if (c == '\t') {
      m_out += "\\t";
    } else if (c == '\r') {
      m_out += "\\r";
    } else {
      m_out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  m_out += '"';
  return *this;
}

Writer& Writer::integer(std::int64_t number) {
  comma();
  m_out += fmt::format_int(number).c_str();
  return *this;
}

Writer& Writer::boolean(bool truth) {
  comma();
  m_out += truth ? "true" : "false";
  return *this;
}

Writer& Writer::null() {
  comma();
  m_out += "null";
  return *this;
}

Writer& Writer::raw(std::string_view json) {
  comma();
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      m_out += c;
      if (c == '\\' && i + 1 < json.size()) {
        m_out += json[++i];
      } else if (c == '"') {
        in_string = false;
      }
    } else if (!is_space(c)) {
      in_string = c == '"';
      m_out += c;
    }
  }
  return *this;
}

std::string json_string(std::string_view text) {
  std::string out;
  Writer(out).string(text);
  return out;
}

}  // namespace tunesmith::wire
