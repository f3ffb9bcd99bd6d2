// Help texts made from the table of commands.
#pragma once

#include <string>
#include <vector>

#include "app/command.h"

namespace tunesmith::app {

/// `tunesmith --help`: every verb in one line, grouped by what a person wants to do.
[[nodiscard]] std::string overview(const std::vector<Command>& table);
/// `tunesmith VERB --help`.
[[nodiscard]] std::string help_of(const Command& command);
/// "tunesmith verify [RESULT] [TOL] [options]"
[[nodiscard]] std::string usage_line(const Command& command);
/// The man page tunesmith(1), in roff.
[[nodiscard]] std::string man_page(const std::vector<Command>& table);
/// Completion script for "bash", "zsh" or "fish"; an unknown shell is a usage error.
[[nodiscard]] Result<std::string> completion_script(const std::vector<Command>& table,
                                                    const std::string& shell);
/// Folds a paragraph to `width` columns, each line after `indent` spaces.
[[nodiscard]] std::string fold(const std::string& text, std::size_t indent, std::size_t width = 96);

}  // namespace tunesmith::app
