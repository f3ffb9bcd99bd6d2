#include "app/program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "app/help.h"
#include "app/parse.h"
#include "app/table.h"
#include "app/version.h"

namespace tunesmith::app {

namespace {

/// https://no-color.org: set and not empty means no colours; an explicit --color is stronger.
bool wants_color(const Arguments& arguments, std::FILE* out) {
  const std::string choice = arguments.text("--color", "auto");
  if (choice != "auto") return choice == "always";
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* terminal = std::getenv("TERM");
  if (terminal == nullptr || std::string_view(terminal) == "dumb") return false;
  const int fd = fileno(out);
  return fd >= 0 && isatty(fd) == 1;
}

int report(const Error& error, std::FILE* err) {
  fmt::print(err, "tunesmith: {}\n", error.line());
  return static_cast<int>(exit_of(error.code));
}

}  // namespace

int run_program(const std::vector<std::string>& words, std::FILE* out, std::FILE* err) {
  // A reader that goes away (`tunesmith runs | head -1`) is no fault worth a signal's death.
  std::signal(SIGPIPE, SIG_IGN);
  auto parsed = parse_words(command_table(), words);
  if (!parsed) return report(parsed.error(), err);

  Context context;
  context.arguments = std::move(parsed->arguments);
  context.out = out;
  context.err = err;
  context.json = context.arguments.has("--json");
  context.quiet = context.arguments.has("--quiet");
  context.color = wants_color(context.arguments, out);

  int status = 0;
  if (parsed->version) {
    if (context.json) {
      context.print_json(version_facts());
    } else {
      context.print(version_text());
    }
  } else if (parsed->command == nullptr) {
    context.print(overview(command_table()));
  } else if (context.arguments.has("--help")) {
    context.print(help_of(*parsed->command));
  } else {
    auto ended = parsed->command->run(context);
    std::fflush(out);
    status = ended ? static_cast<int>(*ended) : report(ended.error(), err);
  }
  // A full disk behind a redirection shows only when the buffer is flushed: an answer that was lost is no
  // success.
  if (std::fflush(out) != 0 && errno != EPIPE) {
    return report(Error{ErrorCode::io, fmt::format("cannot write the answer: {}", errno_text(errno)), "", {}},
                  err);
  }
  return status;
}

}  // namespace tunesmith::app
