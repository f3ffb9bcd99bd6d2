#include "base/error.h"

#include <fmt/format.h>

#include <cstring>

#include "base/text.h"

namespace tunesmith {

std::string Error::line() const {
  std::string out;
  if (!place.file.empty()) {
    out += place.file;
    if (place.line > 0) out += fmt::format(":{}", place.line);
    if (place.line > 0 && place.column > 0) out += fmt::format(":{}", place.column);
    out += ": ";
  }
  if (!place.key.empty()) out += place.key + ": ";
  out += message;
  if (!mend.empty()) out += "; " + mend;
  std::string flat;
  flat.reserve(out.size());
  for (const char c : out) {
    if (c == '\n') {
      flat += "\\n";
    } else if (c == '\r') {
      flat += "\\r";
    } else {
      flat += c;
    }
  }
  // A message may quote what a candidate or a file said; it must not move the cursor.
  return printable(flat);
}

std::string errno_text(int error_number) {
  char buffer[128];
  // The GNU form returns the text, which may or may not stand in the buffer.
  return strerror_r(error_number, buffer, sizeof buffer);
}

}  // namespace tunesmith
