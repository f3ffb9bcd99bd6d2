// Cuts an expression into tokens, each with its place in the text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tunesmith::space {

enum class TokenKind { end, name, whole, real, string, symbol };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string text;  ///< name, operator (words such as `and` included) or the string's contents
  std::int64_t whole = 0;
  double real = 0;
  std::size_t offset = 0;  ///< bytes from the beginning of the expression

  [[nodiscard]] bool is(std::string_view symbol) const { return kind == TokenKind::symbol && text == symbol; }
};

/// What is wrong and where in the text; the parser turns it into an Error with file, line and column.
struct SyntaxFault {
  std::string message;
  std::string mend;
  std::size_t offset = 0;
};

/// Ends with a token of kind `end`. Words of the language (and, or, not, in, if, else) are symbols.
[[nodiscard]] tl::expected<std::vector<Token>, SyntaxFault> tokenize(std::string_view text);
/// Whether a name cannot be used for a parameter because expressions give it a meaning.
[[nodiscard]] bool is_expression_word(std::string_view name);

}  // namespace tunesmith::space
