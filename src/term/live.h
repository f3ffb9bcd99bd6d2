// A live block: a few lines at the bottom of the output that are redrawn in place, at most ten times a
// second, while notes scroll above them. Where nothing can be redrawn it prints the notes only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "term/style.h"

namespace tunesmith::term {

class Live {
 public:
  using Write = std::function<void(std::string_view)>;

  /// `redraw`: see can_redraw(). `columns`: lines are cut to it, since a wrapped line would break the
  /// redrawing.
  Live(Write write, bool redraw, std::size_t columns, const Clock& clock);
  /// To a file descriptor, by its surroundings.
  explicit Live(int fd);
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;
  ~Live();  ///< as finish()

  [[nodiscard]] bool redraws() const { return m_redraw; }
  /// True when show() would draw now: lets a caller skip the work of making the lines.
  [[nodiscard]] bool due() const;
  /// Replaces the block. Too early after the last drawing it is only remembered; the next show(), note() or
  /// finish() brings it.
  void show(std::vector<std::string> lines);
  /// Prints a line above the block, always and at once.
  void note(std::string_view line);
  /// Draws what is remembered and ends the block; later notes come below it.
  void finish();
  /// Takes the block away.
  void clear();

 private:
  void draw();
  [[nodiscard]] std::string to_top() const;
  [[nodiscard]] std::string block();

  Write m_write;
  bool m_redraw;
  std::size_t m_columns;
  int m_fd = -1;  ///< asked for its width at each drawing, since people resize windows
  const Clock* m_clock;
  std::vector<std::string> m_lines;
  std::size_t m_drawn = 0;  ///< lines on the screen now
  bool m_pending = false;
  bool m_ever = false;
  std::int64_t m_last_ns = 0;
};

}  // namespace tunesmith::term
