#include "app/table.h"

namespace tunesmith::app {

// One file a verb in verbs/, one line here and one below.
Command tune_command();
Command record_command();
Command compare_strategies_command();
Command init_command();
Command case_check_command();
Command bench_command();
Command verify_command();
Command score_command();
Command top_command();
Command show_command();
Command runs_command();
Command runs_prune_command();
Command apply_command();
Command machine_command();
Command selftest_command();
Command help_command();

const std::vector<Command>& command_table() {
  static const std::vector<Command> table = {
      tune_command(),    record_command(),   init_command(),       case_check_command(),
      bench_command(),   verify_command(),   score_command(),      top_command(),
      show_command(),    runs_command(),     runs_prune_command(), apply_command(),
      machine_command(), selftest_command(), help_command(),       compare_strategies_command(),
  };
  return table;
}

const std::vector<Option>& global_options() {
  static const std::vector<Option> options = {
      {.name = "--json", .help = "print the answer as JSON"},
      {.name = "--quiet", .help = "print nothing but the answer", .short_name = "-q"},
      {.name = "--color",
       .kind = Kind::choice,
       .value = "WHEN",
       .help = "colours; NO_COLOR in the environment switches them off",
       .fallback = "auto",
       .choices = {"auto", "always", "never"}},
      {.name = "--help", .help = "teach this verb, with an example", .short_name = "-h"},
  };
  return options;
}

const Command* find_command(const std::string& name) {
  for (const Command& command : command_table()) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

}  // namespace tunesmith::app
