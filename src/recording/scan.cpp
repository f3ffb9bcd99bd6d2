#include "recording/scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tunesmith::recording {

namespace {

constexpr std::size_t k_none = std::string_view::npos;
constexpr std::size_t k_deepest = 64;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

std::size_t skip_space(std::string_view text, std::size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

/// Behind the string that opens at `at`; k_none when it does not close. A bare line end or a NUL is in no
/// string of JSON: there the file is torn.
std::size_t skip_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') return at + 1;
    if (c == '\\') {
      ++at;
    } else if (c == '\n' || c == '\0') {
      return k_none;
    }
  }
  return k_none;
}

/// Behind the value that begins at `at`; k_none when it is not whole.
std::size_t skip_value(std::string_view text, std::size_t at) {
  if (at >= text.size()) return k_none;
  if (text[at] == '"') return skip_string(text, at);
  if (text[at] != '{' && text[at] != '[') {
    const std::size_t begin = at;
    while (at < text.size() && text[at] != ',' && text[at] != '}' && text[at] != ']' && text[at] != '\0' &&
           text[at] != '"' && text[at] != '{' && text[at] != '[' && !is_space(text[at]))
      ++at;
    // A number that ends with the file may have lost its tail.
    return at == begin || at >= text.size() || text[at] == '\0' ? k_none : at;
  }
  std::array<char, k_deepest> open{};
  std::size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = skip_string(text, at);
      if (at == k_none) return k_none;
      continue;
    }
    if (c == '{' || c == '[') {
      if (depth == k_deepest) return k_none;
      open[depth++] = c == '{' ? '}' : ']';
    } else if (c == '}' || c == ']') {
      if (open[depth - 1] != c) return k_none;
      if (--depth == 0) return at + 1;
    } else if (c == '\0') {
      return k_none;
    }
    ++at;
  }
  return k_none;
}

std::optional<json::value> parse_strict(std::string_view text) {
  boost::system::error_code error;
  json::value value = json::parse(json::string_view(text.data(), text.size()), error);
  if (error) return std::nullopt;
  return value;
}

/// Python's words for numbers that JSON lacks, outside of strings.
std::string without_nan(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '"') {
      const std::size_t end = std::min(skip_string(text, at), text.size());
      out.append(text.substr(at, end - at));
      at = end;
      continue;
    }
    bool replaced = false;
    for (const std::string_view word :
         {"NaN", "-NaN", "nan", "-nan", "Infinity", "-Infinity", "inf", "-inf"}) {
      if (!text.substr(at).starts_with(word)) continue;
      out += "null";
      at += word.size();
      replaced = true;
      break;
    }
    if (!replaced) out += text[at++];
  }
  return out;
}

/// From 1.
std::size_t column_of(std::string_view text, std::size_t offset) {
  const std::size_t last = text.substr(0, offset).rfind('\n');
  return last == k_none ? offset + 1 : offset - last;
}

/// How records of this file begin, learnt from the first one.
struct Form {
  bool object = false;  ///< members of an object, not items of an array
  std::size_t column = 1;
  bool one_line = true;
};

/// The next line that begins as a record does; k_none when there is none.
std::size_t resume_point(std::string_view text, std::size_t from, const Form& form) {
  for (std::size_t line = text.find('\n', from); line != k_none; line = text.find('\n', line + 1)) {
    const std::size_t at = line + form.column;
    if (at >= text.size() || skip_space(text, line) != at) continue;
    if (!form.object && text[at] == '{') return at;
    if (form.object && text[at] == '"' && text.substr(at, text.find('\n', at) - at).find("\": {") != k_none)
      return at;
  }
  return k_none;
}

std::string stop_reason(std::string_view text, std::size_t from, std::size_t torn) {
  if (const std::size_t nul = text.find('\0', from); nul != k_none)
    return fmt::format("NUL bytes from byte {} on", nul);
  return torn >= text.size() ? "the file ends inside this record" : "this record is damaged";
}

Walk walk_on(std::string_view text, std::size_t at, bool object,
             const std::function<bool(const Piece&)>& visit) {
  Walk result;
  const auto stop = [&](std::size_t where, std::size_t torn) {
    result.end = result.fault_at = where;
    result.fault = stop_reason(text, where, torn);
    return result;
  };
  const char closing = object ? '}' : ']';
  while (true) {
    at = skip_space(text, at);
    if (at < text.size() && text[at] == ',') at = skip_space(text, at + 1);
    if (at >= text.size()) return stop(at, at);
    if (text[at] == closing) {
      result.closed = true;
      result.end = at + 1;
      return result;
    }
    Piece piece;
    piece.offset = at;
    if (object) {
      if (text[at] != '"') return stop(at, at);
      const std::size_t end = skip_string(text, at);
      if (end == k_none) return stop(at, text.size());
      const auto key = parse_strict(text.substr(at, end - at));
      if (!key || !key->is_string()) return stop(at, at);
      piece.key = std::string(key->get_string());
      const std::size_t colon = skip_space(text, end);
      if (colon >= text.size() || text[colon] != ':') return stop(at, colon);
      at = skip_space(text, colon + 1);
    }
    const std::size_t end = skip_value(text, at);
    if (end == k_none) {
      if (object && at < text.size()) {
        result.broken_key = piece.key;
        result.broken_at = at;
      }
      return stop(piece.offset, text.size());
    }
    piece.text = text.substr(at, end - at);
    at = end;
    result.end = end;
    if (!visit(piece)) return result;
  }
}

}  // namespace

Lines::Lines(std::string_view text) : m_begins{0} {
  for (std::size_t at = text.find('\n'); at != k_none; at = text.find('\n', at + 1))
    m_begins.push_back(at + 1);
}

std::string Lines::at(std::size_t offset) const {
  const auto next = std::upper_bound(m_begins.begin(), m_begins.end(), offset);
  return fmt::format("line {}, column {}", next - m_begins.begin(), offset - *(next - 1) + 1);
}

Walk walk(std::string_view text, std::size_t offset, const std::function<bool(const Piece&)>& visit) {
  return walk_on(text, offset + 1, text[offset] == '{', visit);
}

std::vector<std::string> walk_records(std::string_view text, std::size_t offset, const Lines& lines,
                                      const std::function<void(const Piece&)>& visit) {
  std::vector<std::string> faults;
  Form form;
  form.object = text[offset] == '{';
  bool first = true;
  std::size_t swallowing = k_none;  // a record without its closing bracket that took in the next ones
  const auto counted = [&](const Piece& piece) {
    if (first) form = {form.object, column_of(text, piece.offset), piece.text.find('\n') == k_none};
    first = false;
    if (form.one_line && piece.text.find('\n') != k_none &&
        resume_point(text, piece.offset, form) < piece.offset + piece.text.size()) {
      swallowing = piece.offset;
      return false;
    }
    visit(piece);
    return true;
  };
  std::size_t at = offset + 1;
  while (true) {
    Walk went = walk_on(text, at, form.object, counted);
    if (went.closed) return faults;
    if (swallowing != k_none) {
      went.fault_at = swallowing;
      went.fault = "this record is damaged";
      swallowing = k_none;
    }
    // A list that was never closed is how a run in progress looks: nothing of it is lost.
    if (text.substr(went.fault_at).find_first_not_of(" \t\r\n,") == k_none) return faults;
    faults.push_back(fmt::format("{}: {}", lines.at(went.fault_at), went.fault));
    at = resume_point(text, went.fault_at, form);
    if (at == k_none) return faults;
  }
}

std::optional<json::value> parse_piece(std::string_view text) {
  if (auto value = parse_strict(text)) return value;
  return parse_strict(without_nan(text));
}

}  // namespace tunesmith::recording
