// CLI11 costs many seconds to compile: it stays in this one file, behind parse.h.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <list>

#include "app/parse.h"
#include "app/table.h"
#include "base/text.h"

namespace tunesmith::app {

namespace {

Place at_flag(const std::string& name) { return Place{"", 0, 0, name}; }

std::string see_help(const Command& command) { return fmt::format("see tunesmith {} --help", command.name); }

Status check_value(const Option& option, const std::string& value) {
  Arguments one;
  one.add(option.name, value);
  switch (option.kind) {
    case Kind::count:
      if (one.count(option.name)) return {};
      return fail(ErrorCode::usage,
                  fmt::format("\"{}\" is not a whole number of 0 or more", printable(value)),
                  fmt::format("write it as in {} 20", option.name), at_flag(option.name));
    case Kind::number: {
      const auto number = one.number(option.name);
      if (number && std::isfinite(*number)) return {};
      return fail(ErrorCode::usage, fmt::format("\"{}\" is not a number", printable(value)),
                  "write it as in 0.5 or 1e-3", at_flag(option.name));
    }
    case Kind::choice: {
      if (std::find(option.choices.begin(), option.choices.end(), value) != option.choices.end()) return {};
      const std::string near = nearest(value, option.choices);
      return fail(ErrorCode::usage,
                  fmt::format("\"{}\" is none of {}", printable(value), join(option.choices, ", ")),
                  near.empty() ? "" : fmt::format("did you mean {}?", near), at_flag(option.name));
    }
    default:
      if (!value.empty()) return {};
      return fail(ErrorCode::usage, "the value is empty", option.help, at_flag(option.name));
  }
}

tl::unexpected<Error> unknown_word(const Command& command, const std::vector<Option>& options,
                                   const std::string& word) {
  if (!word.starts_with("-")) {
    return fail(ErrorCode::usage, fmt::format("\"{}\" is one argument too many", printable(word)),
                see_help(command));
  }
  const std::string flag = word.substr(0, word.find('='));
  std::vector<std::string> known;
  for (const Option& option : options) {
    if (!option.positional()) known.push_back(option.name);
  }
  const std::string near = nearest(flag, known);
  return fail(ErrorCode::usage, fmt::format("{} has no option {}", command.name, printable(flag)),
              near.empty() ? see_help(command) : fmt::format("did you mean {}?", near));
}

}  // namespace

Result<Arguments> parse_options(const Command& command, const std::vector<std::string>& words) {
  std::vector<Option> options = command.options;
  options.insert(options.end(), global_options().begin(), global_options().end());

  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  app.positionals_at_end(false);
  std::list<std::vector<std::string>> values;  // CLI11 keeps references: they must not move
  std::list<std::string> words_taken;
  std::list<bool> toggles;
  std::vector<std::pair<const Option*, CLI::Option*>> made;
  for (const Option& option : options) {
    const std::string names = option.short_name.empty() ? option.name : option.short_name + "," + option.name;
    CLI::Option* one = nullptr;
    if (option.kind == Kind::toggle) {
      one = app.add_flag(names, toggles.emplace_back(false));
    } else {
      if (option.positional()) {
        // A single value: the next word belongs to the next argument.
        one = app.add_option(names, words_taken.emplace_back());
      } else {
        // Several are taken here and refused below, in our own words.
        one = app.add_option(names, values.emplace_back());
        one->expected(1)->take_all();
      }
      one->type_name(option.value);
    }
    made.emplace_back(&option, one);
  }

  std::vector<std::string> reversed(words.rbegin(), words.rend());
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::ArgumentMismatch&) {
    // CLI11's text speaks of types; say which of our options stands there without its value.
    for (const Option& option : options) {
      if (option.positional() || option.kind == Kind::toggle) continue;
      if (!words.empty() && (words.back() == option.name || words.back() == option.short_name)) {
        return fail(ErrorCode::usage, fmt::format("needs a value {}", option.value), see_help(command),
                    at_flag(option.name));
      }
    }
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      for (const Option& option : options) {
        if (option.kind != Kind::toggle && words[i] == option.name && words[i + 1].starts_with("-")) {
          return fail(ErrorCode::usage, fmt::format("needs a value {}", option.value), see_help(command),
                      at_flag(option.name));
        }
      }
    }
    return fail(ErrorCode::usage, "an option lacks its value", see_help(command));
  } catch (const CLI::ParseError& error) {
    return fail(ErrorCode::usage, error.what(), see_help(command));
  }

  Arguments arguments;
  for (const auto& [option, one] : made) {
    if (one->count() == 0) continue;
    if (option->kind == Kind::toggle) {
      arguments.add(option->name, "");
      continue;
    }
    if (one->count() > 1) {
      return fail(ErrorCode::usage, "is given twice", "keep one of them", at_flag(option->name));
    }
    for (const std::string& value : one->results()) {
      // CLI11 takes the next flag for the value when none is given.
      const bool flag = std::any_of(options.begin(), options.end(), [&](const Option& other) {
        return !other.positional() && (other.name == value || (!value.empty() && other.short_name == value));
      });
      if (flag) {
        return fail(ErrorCode::usage, fmt::format("needs a value {}", option->value), see_help(command),
                    at_flag(option->name));
      }
      TS_TRY(check_value(*option, value));
      arguments.add(option->name, value);
    }
  }
  if (arguments.has("--help")) return arguments;
  for (const std::string& word : app.remaining()) return unknown_word(command, options, word);
  for (const Option& option : options) {
    if (option.required && !arguments.has(option.name)) {
      return fail(ErrorCode::usage, fmt::format("{} needs {}: {}", command.name, option.name, option.help),
                  see_help(command));
    }
  }
  return arguments;
}

}  // namespace tunesmith::app
