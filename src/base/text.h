// Small text helpers that the standard library of this year lacks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tunesmith {

[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);
[[nodiscard]] std::vector<std::string_view> split_lines(std::string_view text);  ///< without line ends
[[nodiscard]] std::string_view trim(std::string_view text);
[[nodiscard]] std::string join(const std::vector<std::string>& parts, std::string_view separator);
/// The candidate nearest to `word` by edit distance, or empty when none is near enough to suggest.
[[nodiscard]] std::string nearest(std::string_view word, const std::vector<std::string>& candidates);
/// Cuts to at most `limit_bytes` on a UTF-8 boundary and marks the cut with "…".
[[nodiscard]] std::string cut(std::string_view text, std::size_t limit_bytes);
/// Bytes of the first character, or 0 when the text does not start with valid UTF-8.
[[nodiscard]] std::size_t utf8_length(std::string_view text);
/// For text that a candidate or model wrote: control characters, marks that turn the direction of writing and
/// bytes that are no UTF-8 become visible escapes; newlines and tabs stay. The result is valid UTF-8.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace tunesmith
