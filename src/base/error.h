// An Error is one clear line for a person: where, what is wrong, how to mend it.
// Errors are values; exceptions never cross a room.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace tunesmith {

/// What kind of thing went wrong; decides the exit status (app/exit_status.h) and nothing else.
enum class ErrorCode {
  usage,        ///< wrong flag or argument
  unreadable,   ///< a file is absent, torn or not what it claims to be
  invalid,      ///< a file is readable and its contents break a rule
  conflict,     ///< somebody else holds it, or it changed under us
  io,           ///< the disk or the kernel refused (full disk, permission)
  unavailable,  ///< this machine lacks something (compiler, library, sandbox layer)
  infra,        ///< a fault of ours or the machine's; never charged to a candidate
  interrupted,  ///< a person stopped it
  internal,     ///< should not happen
};

/// Where in a user's input. Line and column count from 1; 0 means unknown.
struct Place {
  std::string file;
  int line = 0;
  int column = 0;
  std::string key;  ///< JSON pointer, flag or parameter name; may be empty
};

struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;  ///< what was tried and what happened, no trailing full stop
  std::string mend;     ///< what to do about it; may be empty
  Place place;

  /// "file:3:7: key: message; mend". One line, never more: newlines are escaped.
  [[nodiscard]] std::string line() const;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

[[nodiscard]] inline tl::unexpected<Error> fail(ErrorCode code, std::string message, std::string mend = {},
                                                Place place = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(mend), std::move(place)});
}

/// errno as text, thread-safe: "No space left on device".
[[nodiscard]] std::string errno_text(int error_number);

}  // namespace tunesmith

// Their parameters are declarations and names, which no parentheses may surround.
// NOLINTBEGIN(bugprone-macro-parentheses)
/// Passes an error on: TS_TRY(write(...));
#define TS_TRY(expression)                                                         \
  do {                                                                             \
    if (auto ts_try_result = (expression); !ts_try_result)                         \
      return tl::unexpected<::tunesmith::Error>(std::move(ts_try_result.error())); \
  } while (false)

#define TS_CONCAT_INNER(a, b) a##b
#define TS_CONCAT(a, b) TS_CONCAT_INNER(a, b)
#define TS_ASSIGN_INNER(temporary, declaration, expression)                                \
  auto temporary = (expression);                                                           \
  if (!temporary) return tl::unexpected<::tunesmith::Error>(std::move(temporary.error())); \
  declaration = std::move(*temporary)
/// Takes the value or passes the error on: TS_ASSIGN(auto text, read_file(path));
#define TS_ASSIGN(declaration, expression) \
  TS_ASSIGN_INNER(TS_CONCAT(ts_assign_, __LINE__), declaration, expression)
// NOLINTEND(bugprone-macro-parentheses)
