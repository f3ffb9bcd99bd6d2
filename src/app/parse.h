// Words of a command line -> a command and its checked arguments. The only user of CLI11 is parse.cpp.
#pragma once

#include <string>
#include <vector>

#include "app/command.h"

namespace tunesmith::app {

struct Parsed {
  const Command* command = nullptr;  ///< nullptr: no verb was given
  Arguments arguments;
  bool version = false;
};

/// Finds the verb (its words may be two: "case check") and reads its options. Wrong words are `usage` errors
/// that name the nearest known word.
[[nodiscard]] Result<Parsed> parse_words(const std::vector<Command>& table,
                                         const std::vector<std::string>& words);

/// Options of one command, the global ones included.
[[nodiscard]] Result<Arguments> parse_options(const Command& command, const std::vector<std::string>& words);

}  // namespace tunesmith::app
