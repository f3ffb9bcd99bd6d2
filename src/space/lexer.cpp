#include "space/lexer.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "base/text.h"

namespace tunesmith::space {

namespace {

constexpr std::array k_words = {"and", "or", "not", "in", "if", "else"};
// Longest first: the first match wins.
constexpr std::array k_symbols = {"**", "//", "<<", ">>", "==", "!=", "<=", ">=", "&&", "||",
                                  "+",  "-",  "*",  "/",  "%",  "<",  ">",  "(",  ")",  "[",
                                  "]",  ",",  "!",  "&",  "|",  "^",  "~",  "."};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : m_text(text) {}

  tl::expected<std::vector<Token>, SyntaxFault> run() {
    std::vector<Token> tokens;
    while (true) {
      while (m_at < m_text.size() && std::string_view(" \t\r\n").find(m_text[m_at]) != std::string_view::npos)
        ++m_at;
      Token token;
      token.offset = m_at;
      if (m_at == m_text.size()) {
        tokens.push_back(token);
        return tokens;
      }
      const char c = m_text[m_at];
      bool fine = false;
      if (is_digit(c) || (c == '.' && is_digit(peek(1))))
        fine = number(token);
      else if (is_letter(c))
        fine = word(token);
      else if (c == '\'' || c == '"')
        fine = string(token);
      else
        fine = symbol(token);
      if (!fine) return tl::unexpected<SyntaxFault>(m_fault);
      tokens.push_back(std::move(token));
    }
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead) const {
    return m_at + ahead < m_text.size() ? m_text[m_at + ahead] : '\0';
  }

  bool fault(std::size_t offset, std::string message, std::string mend = {}) {
    m_fault = {std::move(message), std::move(mend), offset};
    return false;
  }

  bool word(Token& token) {
    const std::size_t begin = m_at;
    while (m_at < m_text.size() && (is_letter(m_text[m_at]) || is_digit(m_text[m_at]))) ++m_at;
    token.text = std::string(m_text.substr(begin, m_at - begin));
    token.kind = TokenKind::name;
    for (const char* known : k_words)
      if (token.text == known) token.kind = TokenKind::symbol;
    return true;
  }

  bool string(Token& token) {
    const char quote = m_text[m_at++];
    token.kind = TokenKind::string;
    while (m_at < m_text.size() && m_text[m_at] != quote) {
      if (m_text[m_at] == '\\') {
        const char escaped = peek(1);
        if (escaped != '\\' && escaped != '\'' && escaped != '"')
          return fault(m_at, "unknown escape in a string", "only \\\\, \\' and \\\" are known");
        ++m_at;
      }
      token.text += m_text[m_at++];
    }
    if (m_at == m_text.size())
      return fault(token.offset, "the string is never closed", "add the closing quote");
    ++m_at;
    return true;
  }

  bool number(Token& token) {
    const std::size_t begin = m_at;
    int base = 10;
    if (m_text[m_at] == '0' && std::string_view("xXbBoO").find(peek(1)) != std::string_view::npos &&
        peek(1) != '\0') {
      base = (peek(1) | 32) == 'x' ? 16 : (peek(1) | 32) == 'b' ? 2 : 8;
      m_at += 2;
    }
    std::string digits;
    bool real = false;
    while (m_at < m_text.size()) {
      const char c = m_text[m_at];
      if (c == '_' && !digits.empty() && (is_digit(peek(1)) || (base == 16 && is_letter(peek(1))))) {
        ++m_at;
        continue;
      }
      if (base == 10 && (c == '.' || ((c | 32) == 'e' && exponent_follows()))) {
        real = true;
        digits += c;
        if (c != '.' && !is_digit(peek(1))) digits += m_text[++m_at];  // the exponent's sign
        ++m_at;
        continue;
      }
      if (!is_digit(c) && !(base == 16 && is_letter(c) && (c | 32) <= 'f')) break;
      digits += c;
      ++m_at;
    }
    const std::string written(m_text.substr(begin, m_at - begin));
    if (m_at < m_text.size() && is_letter(m_text[m_at]))
      return fault(begin, fmt::format("'{}' is not a number", written + m_text[m_at]),
                   "put an operator between number and name");
    const char* end = digits.data() + digits.size();
    if (real) {
      token.kind = TokenKind::real;
      const auto read = std::from_chars(digits.data(), end, token.real);
      if (read.ec == std::errc() && read.ptr == end) return true;
      return fault(begin, fmt::format("'{}' is not a number that a double can hold", written));
    }
    if (base == 10 && digits.size() > 1 && digits[0] == '0' &&
        digits.find_first_not_of('0') != std::string::npos)
      return fault(begin, fmt::format("the number '{}' begins with 0", written),
                   "write 0o for octal or drop the zero");
    token.kind = TokenKind::whole;
    const auto read = std::from_chars(digits.data(), end, token.whole, base);
    if (read.ec == std::errc::result_out_of_range)
      return fault(begin, fmt::format("{} does not fit into 64 bits", written),
                   "write it as a real, such as 1e20");
    if (read.ec != std::errc() || read.ptr != end)
      return fault(begin, fmt::format("'{}' is not a number", written));
    return true;
  }

  [[nodiscard]] bool exponent_follows() const {
    return is_digit(peek(1)) || ((peek(1) == '+' || peek(1) == '-') && is_digit(peek(2)));
  }

  bool symbol(Token& token) {
    token.kind = TokenKind::symbol;
    for (const std::string_view known : k_symbols) {
      if (m_text.substr(m_at, known.size()) != known) continue;
      token.text = known;
      m_at += known.size();
      return true;
    }
    const char c = m_text[m_at];
    if (c == '=') return fault(m_at, "'=' does not compare", "write ==");
    if (c == '?') return fault(m_at, "'?' is not known here", "write: x if condition else y");
    std::size_t length = 1;
    while (m_at + length < m_text.size() &&
           (static_cast<unsigned char>(m_text[m_at + length]) & 0xC0U) == 0x80U)
      ++length;
    return fault(m_at, fmt::format("unexpected character '{}'", printable(m_text.substr(m_at, length))));
  }

  std::string_view m_text;
  std::size_t m_at = 0;
  SyntaxFault m_fault;
};

}  // namespace

tl::expected<std::vector<Token>, SyntaxFault> tokenize(std::string_view text) { return Lexer(text).run(); }

bool is_expression_word(std::string_view name) {
  for (const std::string_view known : k_words)
    if (name == known) return true;
  return name == "True" || name == "False";
}

}  // namespace tunesmith::space
