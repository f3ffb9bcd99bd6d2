#include "app/help.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/table.h"
#include "base/text.h"

namespace tunesmith::app {

namespace {

std::string option_words(const Option& option) {
  std::string words = option.short_name.empty() ? option.name : option.short_name + ", " + option.name;
  if (!option.positional() && option.kind != Kind::toggle) words += " " + option.value;
  return words;
}

std::string option_lines(const std::vector<Option>& options) {
  std::size_t widest = 0;
  for (const Option& option : options) widest = std::max(widest, option_words(option).size());
  std::string out;
  for (const Option& option : options) {
    std::string help = option.help;
    if (!option.choices.empty()) help += ": " + join(option.choices, ", ");
    if (!option.fallback.empty()) help += fmt::format(" (default: {})", option.fallback);
    std::string folded = fold(help, widest + 6);
    folded.erase(0, std::min(folded.size(), widest + 6));
    out += fmt::format("  {:<{}}    {}\n", option_words(option), widest, folded);
  }
  return out;
}

}  // namespace

std::string fold(const std::string& text, std::size_t indent, std::size_t width) {
  std::string out;
  bool first = true;
  for (const std::string_view paragraph : split(text, '\n')) {
    if (!first) out += '\n';
    first = false;
    std::string line(indent, ' ');
    bool empty = true;
    for (const std::string_view word : split(paragraph, ' ')) {
      if (word.empty()) continue;
      if (!empty && line.size() + 1 + word.size() > width) {
        out += line + '\n';
        line.assign(indent, ' ');
        empty = true;
      }
      if (!empty) line += ' ';
      line += word;
      empty = false;
    }
    if (!empty) out += line;
  }
  return out;
}

std::string usage_line(const Command& command) {
  std::string line = "tunesmith " + command.name;
  bool flags = false;
  for (const Option& option : command.options) {
    if (option.positional()) {
      line += option.required ? " " + option.name : " [" + option.name + "]";
    } else {
      flags = true;
    }
  }
  if (flags) line += " [options]";
  return line;
}

std::string help_of(const Command& command) {
  std::string out = usage_line(command) + "\n\n" + fold(command.summary + ".", 2) + "\n\n";
  if (!command.text.empty()) out += fold(command.text, 2) + "\n\n";
  std::vector<Option> positional;
  std::vector<Option> flags;
  for (const Option& option : command.options) (option.positional() ? positional : flags).push_back(option);
  if (!positional.empty()) out += "Arguments:\n" + option_lines(positional) + "\n";
  if (!flags.empty()) out += "Options:\n" + option_lines(flags) + "\n";
  out += "Everywhere:\n" + option_lines(global_options()) + "\n";
  out += command.examples.size() == 1 ? "Example:\n" : "Examples:\n";
  for (const Example& example : command.examples) {
    out += "  " + example.line + "\n" + fold(example.says, 6) + "\n";
  }
  out += "\nExit status: 0 success";
  for (const Exit status : command.exits) {
    for (const ExitInfo& info : exit_table()) {
      if (info.status != status) continue;
      out += fmt::format(", {} {}", static_cast<int>(status),
                         info.meaning.substr(0, info.meaning.find_first_of(",:;")));
    }
  }
  out += ", 2 wrong usage or input (tunesmith help exit-statuses)\n";
  return out;
}

std::string overview(const std::vector<Command>& table) {
  std::string out =
      "tunesmith makes a kernel faster: it tries variants, checks their numbers, times them honestly "
      "against\n"
      "what you have, and keeps only what your gate accepts.\n\n"
      "Start here:\n"
      "  tunesmith tune cases/demo.json      watch it tune a shipped kernel (3 minutes)\n"
      "  tunesmith init my_kernel.cpp        write a first case for a kernel of yours\n\n"
      "Verbs:\n";
  std::size_t widest = 0;
  for (const Command& command : table) widest = std::max(widest, command.name.size());
  for (const Command& command : table)
    out += fmt::format("  {:<{}}  {}\n", command.name, widest, command.summary);
  out += "\nEverywhere:\n" + option_lines(global_options());
  out +=
      "  --version    version and how it was built\n\n"
      "tunesmith VERB --help teaches a verb with an example. tunesmith help TOPIC: exit-statuses, "
      "strategies,\n"
      "backends, reason-codes.\n";
  return out;
}

}  // namespace tunesmith::app
