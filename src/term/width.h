// How many columns a text takes on a terminal: UTF-8, wide East Asian characters and emoji, combining marks,
// and colour sequences, which take none.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tunesmith::term {

[[nodiscard]] std::size_t width(std::string_view text);
/// At most `columns` wide, cut with "…" on a character boundary; colours that were on are switched off.
[[nodiscard]] std::string fit(std::string_view text, std::size_t columns);
[[nodiscard]] std::string pad_right(std::string_view text, std::size_t columns);  ///< text, then spaces
[[nodiscard]] std::string pad_left(std::string_view text, std::size_t columns);   ///< spaces, then text

}  // namespace tunesmith::term
