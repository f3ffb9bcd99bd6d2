// The table of commands: one line a verb.
#pragma once

#include <string>
#include <vector>

#include "app/command.h"

namespace tunesmith::app {

[[nodiscard]] const std::vector<Command>& command_table();
/// Options that every command takes: --json, --quiet, --color, --help.
[[nodiscard]] const std::vector<Option>& global_options();
[[nodiscard]] const Command* find_command(const std::string& name);

}  // namespace tunesmith::app
