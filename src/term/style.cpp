#include "term/style.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace tunesmith::term {

namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool locale_allows_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = variable(name);
    if (value.empty()) continue;
    if (value == "C" || value == "POSIX") return false;
    const std::size_t dot = value.find('.');
    if (dot == std::string_view::npos) return true;
    const std::string_view codeset = value.substr(dot + 1);
    return codeset.starts_with("UTF-8") || codeset.starts_with("utf8") || codeset.starts_with("utf-8");
  }
  return true;  // bare containers set nothing, and their terminals speak UTF-8
}

int columns_of(int fd) {
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const int told = std::atoi(std::string(variable("COLUMNS")).c_str());
  return told >= 20 && told <= 10'000 ? told : 80;
}

}  // namespace

std::optional<ColorMode> color_mode(std::string_view word) {
  if (word == "auto") return ColorMode::automatic;
  if (word == "always") return ColorMode::always;
  if (word == "never") return ColorMode::never;
  return std::nullopt;
}

Surroundings surroundings_of(int fd) {
  Surroundings around;
  around.terminal = isatty(fd) == 1;
  around.no_color = !variable("NO_COLOR").empty();
  around.dumb = variable("TERM").empty() || variable("TERM") == "dumb";
  around.columns = columns_of(fd);
  around.utf8 = locale_allows_utf8();
  return around;
}

bool use_color(ColorMode mode, const Surroundings& around) {
  if (mode != ColorMode::automatic) return mode == ColorMode::always;
  return around.terminal && !around.dumb && !around.no_color;
}

bool can_redraw(const Surroundings& around) { return around.terminal && !around.dumb; }

std::string Style::wrap(std::string_view code, std::string_view text) const {
  constexpr std::string_view k_off = "\x1b[0m";
  if (!m_color || text.empty()) return std::string(text);
  const std::string on = "\x1b[" + std::string(code) + "m";
  std::string out = on;
  while (true) {
    const std::size_t off = text.find(k_off);
    if (off == std::string_view::npos) break;
    out += text.substr(0, off + k_off.size());
    text.remove_prefix(off + k_off.size());
    if (!text.empty()) out += on;
  }
  out += text;
  if (!out.ends_with(k_off)) out += k_off;
  return out;
}

}  // namespace tunesmith::term
