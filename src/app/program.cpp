#include "app/program.h"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>

#include "app/help.h"
#include "app/parse.h"
#include "app/table.h"
#include "app/version.h"
#include "term/style.h"

namespace tunesmith::app {

namespace {

bool wants_color(const Arguments& arguments, std::FILE* out) {
  const auto mode = term::color_mode(arguments.text("--color", "auto"));
  const int fd = fileno(out);
  // A stream without a descriptor (a test's memory) is no terminal.
  const term::Surroundings around = fd >= 0 ? term::surroundings_of(fd) : term::Surroundings{};
  return term::use_color(mode.value_or(term::ColorMode::automatic), around);
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
  bool reader_left = false;
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
    reader_left = std::fflush(out) != 0 && errno == EPIPE;
    status = ended ? static_cast<int>(*ended) : report(ended.error(), err);
  }
  // A full disk behind a redirection shows only when the buffer is flushed: an answer that was lost is no
  // success.
  errno = 0;
  const bool lost = std::fflush(out) != 0 || std::ferror(out) != 0;
  if (lost && errno != EPIPE && !reader_left) {
    return report(Error{ErrorCode::io, "cannot write the answer", "is the disk full?", {}}, err);
  }
  return status;
}

}  // namespace tunesmith::app
