// A command is a value: name, words for people, options, examples and the function that runs it. The parser,
// --help, the man page and the shell completions are all made from the table of these (table.h).
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/exit_status.h"
#include "base/error.h"
#include "base/json.h"

namespace tunesmith::app {

/// What a value must look like; checked before a command runs.
enum class Kind {
  toggle,  ///< takes no value
  text,
  count,   ///< a whole number, 0 or more
  number,  ///< a finite number
  file,    ///< completed by the shell as a path
  run,     ///< name of a run, a unique prefix, a path or "latest"
  choice,  ///< one of Option::choices
};

struct Option {
  std::string name;  ///< "--evaluations"; without dashes it is a positional argument: "CASE"
  Kind kind = Kind::toggle;
  std::string value;       ///< what stands for it in help: "N"
  std::string help;        ///< one sentence, no full stop
  std::string fallback;    ///< shown as "(default: …)"; the command applies it itself
  bool required = false;   ///< of a positional argument
  std::string short_name;  ///< "-k"
  std::vector<std::string> choices;

  [[nodiscard]] bool positional() const { return !name.starts_with("-"); }
};

struct Example {
  std::string line;  ///< "tunesmith tune cases/demo.json"
  std::string says;  ///< what it does
};

/// The values that a person gave, already checked against the options' kinds.
class Arguments {
 public:
  void add(const std::string& name, std::string value) { m_values[name].push_back(std::move(value)); }
  [[nodiscard]] bool has(const std::string& name) const { return m_values.contains(name); }
  [[nodiscard]] std::string text(const std::string& name, const std::string& fallback = {}) const;
  [[nodiscard]] std::optional<std::uint64_t> count(const std::string& name) const;
  [[nodiscard]] std::optional<double> number(const std::string& name) const;

 private:
  std::map<std::string, std::vector<std::string>> m_values;
};

/// Where a command writes and how.
struct Context {
  Arguments arguments;
  std::FILE* out = stdout;
  std::FILE* err = stderr;
  bool json = false;
  bool quiet = false;
  bool color = false;

  /// The answer itself: always written.
  void print(std::string_view text) const;
  /// Words around the answer: not with --quiet or --json.
  void say(std::string_view text) const;
  void print_json(const json::value& value) const;
  /// A remark on stderr, "tunesmith: …"; not with --quiet.
  void remark(std::string_view text) const;
};

struct Command {
  std::string name;     ///< "tune", "case check"
  std::string summary;  ///< one line, no full stop
  std::string text;     ///< a paragraph or two that teach
  std::vector<Option> options;
  std::vector<Example> examples;
  std::vector<Exit> exits;  ///< statuses worth knowing, beside success and usage
  Result<Exit> (*run)(Context& context) = nullptr;
};

}  // namespace tunesmith::app
