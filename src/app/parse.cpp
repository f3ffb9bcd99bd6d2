#include "app/parse.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/table.h"
#include "base/text.h"

namespace tunesmith::app {

namespace {

const Command* command_named(const std::vector<Command>& table, const std::string& name) {
  for (const Command& command : table) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

/// "case" alone: which words may follow it.
std::vector<std::string> followers(const std::vector<Command>& table, const std::string& word) {
  std::vector<std::string> out;
  for (const Command& command : table) {
    if (command.name.starts_with(word + " ")) out.push_back(command.name.substr(word.size() + 1));
  }
  return out;
}

/// How many words from `at` on are one global option with its value; 0 when it is none.
std::size_t global_width(const std::vector<std::string>& words, std::size_t at) {
  for (const Option& option : global_options()) {
    if (words[at] == option.name || (!option.short_name.empty() && words[at] == option.short_name)) {
      return option.kind == Kind::toggle ? 1 : 2;
    }
    if (words[at].starts_with(option.name + "=")) return 1;
  }
  return 0;
}

tl::unexpected<Error> unknown_verb(const std::vector<Command>& table, const std::string& word) {
  std::vector<std::string> names;
  for (const Command& command : table) names.push_back(command.name);
  const std::string near = nearest(word, names);
  return fail(ErrorCode::usage, fmt::format("there is no verb \"{}\"", printable(word)),
              near.empty() ? "tunesmith help lists the verbs" : fmt::format("did you mean {}?", near));
}

}  // namespace

Result<Parsed> parse_words(const std::vector<Command>& table, const std::vector<std::string>& words) {
  Parsed parsed;
  std::size_t verb = 0;
  while (verb < words.size() && words[verb].starts_with("-")) {
    if (words[verb] == "--version" || words[verb] == "-V") {
      parsed.version = true;
      ++verb;
      continue;
    }
    const std::size_t width = global_width(words, verb);
    if (width == 0) {
      std::vector<std::string> known = {"--version"};
      for (const Option& option : global_options()) known.push_back(option.name);
      const std::string near = nearest(words[verb], known);
      return fail(ErrorCode::usage,
                  fmt::format("there is no option {} before a verb", printable(words[verb])),
                  near.empty() ? "write the verb first: tunesmith VERB [options]"
                               : fmt::format("did you mean {}?", near));
    }
    verb += width;
  }
  std::vector<std::string> rest;
  for (std::size_t i = 0; i < std::min(verb, words.size()); ++i) {
    if (words[i] != "--version" && words[i] != "-V") rest.push_back(words[i]);
  }
  if (verb >= words.size()) {
    Command none;
    none.name = "help";
    TS_ASSIGN(parsed.arguments, parse_options(none, rest));
    return parsed;
  }
  std::size_t used = 1;
  const Command* command = nullptr;
  if (verb + 1 < words.size()) command = command_named(table, words[verb] + " " + words[verb + 1]);
  if (command != nullptr) {
    used = 2;
  } else {
    command = command_named(table, words[verb]);
  }
  if (command == nullptr) {
    const std::vector<std::string> next = followers(table, words[verb]);
    if (!next.empty()) {
      return fail(ErrorCode::usage, fmt::format("{} needs one more word: {}", words[verb], join(next, ", ")),
                  fmt::format("try tunesmith {} {} --help", words[verb], next.front()));
    }
    return unknown_verb(table, words[verb]);
  }
  rest.insert(rest.end(), words.begin() + static_cast<std::ptrdiff_t>(verb + used), words.end());
  parsed.command = command;
  TS_ASSIGN(parsed.arguments, parse_options(*command, rest));
  return parsed;
}

}  // namespace tunesmith::app
