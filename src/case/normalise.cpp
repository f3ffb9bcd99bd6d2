// Comments and white space out of C and C++ text, literals and directives kept.
#include <cctype>

#include "case/candidate.h"

namespace tunesmith {

namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
         (static_cast<unsigned char>(c) & 0x80U) != 0;
}
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\f' || c == '\v' || c == '\r'; }

class Normaliser {
 public:
  explicit Normaliser(std::string_view text) : m_text(text) {}

  std::string run() {
    while (true) {
      skip_splices();
      if (m_at >= m_text.size()) break;
      step();
    }
    if (m_directive) m_out += '\n';
    return std::move(m_out);
  }

 private:
  /// The length of a backslash with its line end (blanks between are accepted, as compilers do), or 0.
  [[nodiscard]] std::size_t splice_at(std::size_t at) const {
    if (at >= m_text.size() || m_text[at] != '\\') return 0;
    std::size_t end = at + 1;
    while (end < m_text.size() && is_blank(m_text[end])) ++end;
    return end < m_text.size() && m_text[end] == '\n' ? end + 1 - at : 0;
  }
  void skip_splices() {
    while (const std::size_t length = splice_at(m_at)) m_at += length;
  }
  /// The next character behind `at`, past line splices; '\0' at the end.
  [[nodiscard]] char after(std::size_t at) const {
    ++at;
    while (const std::size_t length = splice_at(at)) at += length;
    return at < m_text.size() ? m_text[at] : '\0';
  }
  void advance() {
    ++m_at;
    skip_splices();
  }

  void step() {
    const char c = m_text[m_at];
    if (c == '/' && after(m_at) == '/') return skip_line_comment();
    if (c == '/' && after(m_at) == '*') return skip_block_comment();
    if (c == '\n') {
      advance();
      if (m_directive) m_out += '\n';
      m_directive = false;
      m_line_start = true;
      m_space = true;
      return;
    }
    if (is_blank(c)) {
      advance();
      m_space = true;
      return;
    }
    if (c == '#' && m_line_start) return begin_directive();
    m_line_start = false;
    if (c == '<' && m_header_name) return copy_header_name();
    if (c == '"' || c == '\'') return copy_literal(c);
    if (is_word(c) || (c == '.' && std::isdigit(static_cast<unsigned char>(after(m_at))) != 0))
      return copy_word();
    m_header_name = false;
    put(c);
    advance();
  }

  void skip_line_comment() {
    while (m_at < m_text.size() && m_text[m_at] != '\n') advance();
    m_space = true;
  }

  void skip_block_comment() {
    advance();
    advance();
    while (m_at < m_text.size() && !(m_text[m_at] == '*' && after(m_at) == '/')) advance();
    if (m_at < m_text.size()) {
      advance();
      advance();
    }
    m_space = true;
  }

  void begin_directive() {
    if (!m_out.empty() && m_out.back() != '\n') m_out += '\n';
    m_out += '#';
    m_space = false;
    m_line_start = false;
    m_directive = true;
    advance();
    while (m_at < m_text.size() && is_blank(m_text[m_at])) advance();
    std::string name;
    while (m_at < m_text.size() && is_word(m_text[m_at])) {
      name += m_text[m_at];
      advance();
    }
    m_out += name;
    m_header_name = name == "include" || name == "include_next" || name == "import" || name == "embed";
  }

  void copy_header_name() {
    begin_token('<');
    while (m_at < m_text.size() && m_text[m_at] != '\n') {
      const char c = m_text[m_at];
      m_out += c;
      advance();
      if (c == '>') break;
    }
    m_header_name = false;
  }

  /// A name or a number; an encoding prefix hands on to its literal, ' inside a number is a digit separator.
  void copy_word() {
    std::string word;
    const bool number = std::isdigit(static_cast<unsigned char>(m_text[m_at])) != 0 || m_text[m_at] == '.';
    while (m_at < m_text.size()) {
      const char c = m_text[m_at];
      const char last = word.empty() ? '\0' : word.back();
      const bool exponent_sign =
          number && (c == '+' || c == '-') && (last == 'e' || last == 'E' || last == 'p' || last == 'P');
      const bool separator = number && c == '\'' && is_word(after(m_at));
      if (!is_word(c) && !(number && c == '.') && !exponent_sign && !separator) break;
      word += c;
      // Raw: an R"( must be seen before splices inside the literal are taken out.
      ++m_at;
      if (m_at < m_text.size() && m_text[m_at] == '"' &&
          (word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R")) {
        begin_token(word.front());
        m_out += word;
        return copy_raw_string();
      }
      skip_splices();
    }
    begin_token(word.front());
    m_out += word;
  }

  void copy_raw_string() {
    const std::size_t open = m_text.find('(', m_at);
    if (open == std::string_view::npos || open - m_at > 17) return;  // no raw string after all
    const std::string close = ")" + std::string(m_text.substr(m_at + 1, open - m_at - 1)) + "\"";
    std::size_t end = m_text.find(close, open);
    end = end == std::string_view::npos ? m_text.size() : end + close.size();
    m_out += m_text.substr(m_at, end - m_at);
    m_at = end;
  }

  void copy_literal(char quote) {
    m_header_name = false;
    begin_token(quote);
    m_out += quote;
    advance();
    // An apostrophe in an #error line is no literal: it ends with its line.
    while (m_at < m_text.size() && m_text[m_at] != '\n') {
      const char c = m_text[m_at];
      m_out += c;
      advance();
      if (c == quote) return;
      if (c == '\\' && m_at < m_text.size() && m_text[m_at] != '\n') {
        m_out += m_text[m_at];
        advance();
      }
    }
  }

  void put(char c) {
    begin_token(c);
    m_out += c;
  }

  /// Writes the pending space where leaving it out could join two tokens or change a directive.
  void begin_token(char next) {
    const bool after_number = m_number;
    m_number = std::isdigit(static_cast<unsigned char>(next)) != 0 || next == '.';
    if (!m_space) return;
    m_space = false;
    if (m_out.empty() || m_out.back() == '\n') return;
    if (m_directive || joins(m_out.back(), next, after_number)) m_out += ' ';
  }

  static bool joins(char last, char next, bool after_number) {
    const bool last_word = is_word(last);
    const bool next_word = is_word(next);
    if (last_word && next_word) return true;
    if (last_word || next_word) {
      const char other = last_word ? next : last;
      if (other == '+' || other == '-') {  // "1e +2" is no number with an exponent
        return last_word && after_number && std::string_view("eEpP").find(last) != std::string_view::npos;
      }
      return std::string_view(".\"'").find(other) != std::string_view::npos;  // "1 .f", L "x"
    }
    constexpr std::string_view k_operators[] = {"++", "--", "->", "<<", ">>", "<=",   ">=", "==", "!=",
                                                "&&", "||", "+=", "-=", "*=", "/=",   "%=", "&=", "|=",
                                                "^=", "::", ".*", "##", "%:", "<:",   ":>", "<%", "%>",
                                                "//", "/*", "..", "=>", ">*", "\"\"", "''"};
    const char pair[2] = {last, next};
    for (const std::string_view known : k_operators) {
      if (known == std::string_view(pair, 2)) return true;
    }
    return false;
  }

  std::string_view m_text;
  std::size_t m_at = 0;
  std::string m_out;
  bool m_space = false;
  bool m_number = false;  ///< the last token written is a number
  bool m_line_start = true;
  bool m_directive = false;
  bool m_header_name = false;
};

}  // namespace

std::string normalise_source(std::string_view text) { return Normaliser(text).run(); }

}  // namespace tunesmith
