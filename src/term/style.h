// Colour and emphasis: who gets them, and the helpers that add them. A Style is a value; decide once, pass it
// down.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tunesmith::term {

enum class ColorMode { automatic, always, never };

/// "auto", "always", "never", or nothing for any other word.
[[nodiscard]] std::optional<ColorMode> color_mode(std::string_view word);

/// What the rules look at, apart from the flag; `environment_of` reads it from the process.
struct Surroundings {
  bool terminal = false;  ///< the stream is a terminal
  bool no_color = false;  ///< NO_COLOR is set and not empty (no-color.org)
  bool dumb = false;      ///< TERM is "dumb" or empty
  int columns = 80;       ///< width of the terminal, COLUMNS, or 80
  bool utf8 = true;       ///< LC_ALL, LC_CTYPE or LANG do not rule it out
};

[[nodiscard]] Surroundings surroundings_of(int fd);

/// always and never win; otherwise colour needs a terminal that is not dumb and no NO_COLOR.
[[nodiscard]] bool use_color(ColorMode mode, const Surroundings& around);
/// Redrawing in place needs a terminal that can move its cursor; NO_COLOR does not forbid it.
[[nodiscard]] bool can_redraw(const Surroundings& around);

class Style {
 public:
  explicit Style(bool color = false) : m_color(color) {}
  [[nodiscard]] bool color() const { return m_color; }
  [[nodiscard]] std::string bold(std::string_view text) const { return wrap("1", text); }
  [[nodiscard]] std::string dim(std::string_view text) const { return wrap("2", text); }
  [[nodiscard]] std::string red(std::string_view text) const { return wrap("31", text); }
  [[nodiscard]] std::string green(std::string_view text) const { return wrap("32", text); }
  [[nodiscard]] std::string yellow(std::string_view text) const { return wrap("33", text); }
  [[nodiscard]] std::string blue(std::string_view text) const { return wrap("34", text); }
  [[nodiscard]] std::string cyan(std::string_view text) const { return wrap("36", text); }

 private:
  /// Ends with "everything off" and starts again inside `text` after each end, so that helpers nest.
  [[nodiscard]] std::string wrap(std::string_view code, std::string_view text) const;
  bool m_color;
};

}  // namespace tunesmith::term
