#include "app/help.h"

#include <fmt/format.h>

#include "app/table.h"
#include "base/text.h"
#include "bench/bench.h"
#include "case/reason.h"
#include "search/strategy.h"

namespace tunesmith::app {

namespace {

struct Row {
  std::string name;
  std::string says;
};

void print_rows(Context& context, const std::vector<Row>& rows, const char* key) {
  if (context.json) {
    json::array list;
    for (const Row& row : rows) list.push_back(json::object{{key, row.name}, {"says", row.says}});
    context.print_json(list);
    return;
  }
  std::size_t widest = 0;
  for (const Row& row : rows) widest = std::max(widest, row.name.size());
  for (const Row& row : rows) context.print(fmt::format("{:<{}}  {}", row.name, widest, row.says));
}

bool print_topic(Context& context, const std::string& topic) {
  std::vector<Row> rows;
  if (topic == "exit-statuses") {
    for (const ExitInfo& info : exit_table()) {
      rows.push_back({fmt::format("{:>3}", static_cast<int>(info.status)),
                      fmt::format("{} (e.g. {})", info.meaning, info.example)});
    }
    print_rows(context, rows, "status");
  } else if (topic == "strategies") {
    for (const search::StrategyInfo& info : search::strategy_table()) {
      rows.push_back(
          {std::string(info.name), std::string(info.summary) + (rows.empty() ? " (the default)" : "")});
    }
    print_rows(context, rows, "strategy");
  } else if (topic == "backends") {
    for (const bench::BackendInfo& info : bench::backend_table()) {
      rows.push_back({std::string(info.name), std::string(info.summary)});
    }
    print_rows(context, rows, "backend");
  } else if (topic == "reason-codes") {
    for (const ReasonInfo& info : reason_table()) {
      if (!info.code.empty()) rows.push_back({std::string(info.code), std::string(info.meaning)});
    }
    print_rows(context, rows, "code");
  } else {
    return false;
  }
  return true;
}

const std::vector<std::string>& topics() {
  static const std::vector<std::string> names = {"exit-statuses", "strategies", "backends", "reason-codes"};
  return names;
}

Result<Exit> run(Context& context) {
  const Arguments& arguments = context.arguments;
  if (arguments.has("--man")) {
    context.print(man_page(command_table()));
    return Exit::success;
  }
  if (arguments.has("--completion")) {
    TS_ASSIGN(const std::string script, completion_script(command_table(), arguments.text("--completion")));
    context.print(script);
    return Exit::success;
  }
  std::string topic = arguments.text("TOPIC");
  if (topic.empty()) {
    context.print(overview(command_table()));
    return Exit::success;
  }
  if (arguments.has("WORD")) topic += " " + arguments.text("WORD");
  if (print_topic(context, topic)) return Exit::success;
  if (const Command* command = find_command(topic)) {
    context.print(help_of(*command));
    return Exit::success;
  }
  std::vector<std::string> known = topics();
  for (const Command& command : command_table()) {
    known.push_back(command.name);
    // "case" alone stands for the verbs that begin with it.
    if (command.name.starts_with(topic + " ")) {
      context.print(help_of(command));
      return Exit::success;
    }
  }
  const std::string near = nearest(topic, known);
  return fail(ErrorCode::usage, fmt::format("there is no verb or topic \"{}\"", printable(topic)),
              near.empty() ? "tunesmith help lists them" : fmt::format("did you mean {}?", near));
}

}  // namespace

Command help_command() {
  return {
      .name = "help",
      .summary = "Teach a verb or a topic; make the man page and shell completions",
      .text = "Topics: " + join(topics(), ", ") + ".",
      .options =
          {
              {.name = "TOPIC", .kind = Kind::text, .value = "TOPIC", .help = "a verb or a topic"},
              {.name = "WORD",
               .kind = Kind::text,
               .value = "WORD",
               .help = "second word of a verb, as in case check"},
              {.name = "--man", .help = "print the man page (roff)"},
              {.name = "--completion",
               .kind = Kind::choice,
               .value = "SHELL",
               .help = "print a completion script",
               .choices = {"bash", "zsh", "fish"}},
          },
      .examples =
          {
              {"tunesmith help tune", "the same as tunesmith tune --help"},
              {"source <(tunesmith help --completion bash)", "complete verbs and options in this shell"},
          },
      .exits = {},
      .run = run,
  };
}

}  // namespace tunesmith::app
