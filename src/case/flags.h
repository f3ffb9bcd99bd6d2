// The allow list for compiler and linker flags: a flag is refused unless it is known to be harmless, because
// a case file may come from somebody else, and a compiler flag can run a program (-fplugin, -B), read any
// file (@file, -include) or write one (-o, -fdump-…).
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "space/space.h"

namespace tunesmith {

enum class FlagUse {
  compile,  ///< candidate and baseline alike
  library,  ///< a baseline or reference of its own: -l<name> as well
};

/// Folders that -I may point into; relative -I paths start at `base`.
struct FlagFolders {
  std::string base;                  ///< of the case file
  std::vector<std::string> allowed;  ///< absolute; the case's folder and those of its sources
};

/// One flag after parameters are put in; an -I path comes back absolute. The error says why it is refused,
/// without a place.
[[nodiscard]] Result<std::string> check_flag(const std::string& flag, FlagUse use,
                                             const FlagFolders& folders);

/// Replaces {NAME} by the configuration's value of NAME (macro text). An unknown name is an error.
[[nodiscard]] Result<std::string> fill_placeholders(const std::string& text, const space::Space& space,
                                                    const space::Config& config);
[[nodiscard]] Result<std::vector<std::string>> fill_placeholders(const std::vector<std::string>& texts,
                                                                 const space::Space& space,
                                                                 const space::Config& config);
/// Names between braces, in order; an unclosed brace is an error.
[[nodiscard]] Result<std::vector<std::string>> placeholders(const std::string& text);

/// Letters, digits and _ . + - only, at most 64: neither a shell nor the preprocessor reads more into it.
[[nodiscard]] bool is_plain_word(std::string_view text);
[[nodiscard]] bool is_c_identifier(std::string_view text);
/// A C or C++ keyword: no name for an argument, a parameter or an entry.
[[nodiscard]] bool is_c_keyword(std::string_view text);

}  // namespace tunesmith
