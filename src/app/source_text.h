// Small helpers for reading C text: comments out, words, brackets. No compiler, no preprocessor.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tunesmith::app {

/// Comments become spaces; line ends and literals stay, so that positions still give lines.
[[nodiscard]] std::string without_comments(std::string_view source);
[[nodiscard]] bool is_word_char(char c);
/// Identifiers in order of appearance.
[[nodiscard]] std::vector<std::string> words_of(std::string_view text);
[[nodiscard]] bool has_word(std::string_view text, std::string_view word);
/// Position of the next whole word, or npos.
[[nodiscard]] std::size_t find_word(std::string_view text, std::string_view word, std::size_t from = 0);
/// Position of the bracket that closes the one at `open`, or npos.
[[nodiscard]] std::size_t closing(std::string_view text, std::size_t open);
[[nodiscard]] std::size_t skip_space(std::string_view text, std::size_t at);
[[nodiscard]] int line_at(std::string_view text, std::size_t at);

}  // namespace tunesmith::app
