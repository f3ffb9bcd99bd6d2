#include <fmt/format.h>

#include <algorithm>

#include "app/help.h"
#include "app/table.h"
#include "base/text.h"

namespace tunesmith::app {

namespace {

std::vector<std::string> first_words(const std::vector<Command>& table) {
  std::vector<std::string> words;
  for (const Command& command : table) {
    const std::string word = command.name.substr(0, command.name.find(' '));
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  }
  return words;
}

std::vector<std::string> flags_of(const Command& command) {
  std::vector<std::string> flags;
  for (const Option& option : command.options) {
    if (!option.positional()) flags.push_back(option.name);
  }
  for (const Option& option : global_options()) flags.push_back(option.name);
  return flags;
}

/// For a quoted shell word in single quotes.
std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string bash(const std::vector<Command>& table) {
  std::string cases;
  for (const Command& command : table) {
    for (const Option& option : command.options) {
      if (option.choices.empty()) continue;
      cases += fmt::format("    \"{} {}\") COMPREPLY=($(compgen -W \"{}\" -- \"$word\")); return ;;\n",
                           command.name, option.name, join(option.choices, " "));
    }
  }
  std::string flags;
  for (const Command& command : table) {
    flags += fmt::format("    \"{}\") flags=\"{}\" ;;\n", command.name, join(flags_of(command), " "));
  }
  std::string seconds;
  for (const std::string& word : first_words(table)) {
    std::vector<std::string> next;
    for (const Command& command : table) {
      if (command.name.starts_with(word + " ")) next.push_back(command.name.substr(word.size() + 1));
    }
    if (!next.empty()) seconds += fmt::format("    {}) seconds=\"{}\" ;;\n", word, join(next, " "));
  }
  return fmt::format(
      R"(# bash completion for tunesmith; load it with: source <(tunesmith help --completion bash)
_tunesmith() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
  local verb="${{COMP_WORDS[1]}}" flags="" seconds=""
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{} --help --version" -- "$word")); return
  fi
  case "$verb" in
{}  esac
  if [ -n "$seconds" ]; then
    if [ "$COMP_CWORD" -eq 2 ]; then COMPREPLY=($(compgen -W "$seconds" -- "$word")); fi
    case " $seconds " in *" ${{COMP_WORDS[2]}} "*) verb="$verb ${{COMP_WORDS[2]}}" ;; esac
  fi
  case "$verb $before" in
{}    *" --color") COMPREPLY=($(compgen -W "auto always never" -- "$word")); return ;;
  esac
  case "$verb" in
{}  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$word")) ;;
    *) COMPREPLY+=($(compgen -f -- "$word")) ;;
  esac
}}
complete -o filenames -F _tunesmith tunesmith
)",
      join(first_words(table), " "), seconds, cases, flags);
}

std::string zsh(const std::vector<Command>& table) {
  // zsh reads bash completions through bashcompinit: one script to keep right instead of two.
  return "#compdef tunesmith\n# zsh completion for tunesmith; load it with: source <(tunesmith help "
         "--completion zsh)\n"
         "autoload -Uz compinit bashcompinit\ncompinit -u\nbashcompinit\n" +
         bash(table);
}

std::string fish(const std::vector<Command>& table) {
  std::string out =
      "# fish completion for tunesmith; load it with: tunesmith help --completion fish | source\n"
      "complete -c tunesmith -n __fish_use_subcommand -l version -d 'version and how it was built'\n";
  for (const std::string& word : first_words(table)) {
    std::string summary = "…";
    for (const Command& command : table) {
      if (command.name == word || command.name.starts_with(word + " ")) {
        summary = command.summary;
        break;
      }
    }
    out += fmt::format("complete -c tunesmith -n __fish_use_subcommand -a {} -d {}\n", word, quoted(summary));
  }
  for (const Command& command : table) {
    const std::size_t space = command.name.find(' ');
    const std::string first = command.name.substr(0, space);
    const std::string when = fmt::format("__fish_seen_subcommand_from {}", first);
    if (space != std::string::npos) {
      out += fmt::format("complete -c tunesmith -n {} -a {} -d {}\n", quoted(when),
                         command.name.substr(space + 1), quoted(command.summary));
    }
    for (const Option& option : command.options) {
      if (option.positional()) continue;
      const bool long_form = option.name.starts_with("--");
      out += fmt::format("complete -c tunesmith -n {} -{} {} -d {}", quoted(when), long_form ? "l" : "s",
                         option.name.substr(long_form ? 2 : 1), quoted(option.help));
      if (option.kind != Kind::toggle) out += " -r";
      if (!option.choices.empty()) out += fmt::format(" -a {}", quoted(join(option.choices, " ")));
      out += "\n";
    }
  }
  for (const Option& option : global_options()) {
    out += fmt::format("complete -c tunesmith -l {} -d {}\n", option.name.substr(2), quoted(option.help));
  }
  return out;
}

}  // namespace

Result<std::string> completion_script(const std::vector<Command>& table, const std::string& shell) {
  if (shell == "bash") return bash(table);
  if (shell == "zsh") return zsh(table);
  if (shell == "fish") return fish(table);
  return fail(ErrorCode::usage, fmt::format("no completion for the shell \"{}\"", shell),
              "bash, zsh or fish");
}

}  // namespace tunesmith::app
