#include "term/live.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/text.h"
#include "term/width.h"

namespace tunesmith::term {

namespace {

// Ten drawings a second: smooth to the eye, nothing to the measured machine.
constexpr std::int64_t k_interval_ns = 100'000'000;

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    // A closed pipe or terminal has nobody left to tell.
    if (put <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
}

const Clock& real_clock() {
  static const Clock clock;
  return clock;
}

}  // namespace

Live::Live(Write write, bool redraw, std::size_t columns, const Clock& clock)
    : m_write(std::move(write)), m_redraw(redraw), m_columns(columns), m_clock(&clock) {}

Live::Live(int fd)
    : Live([fd](std::string_view bytes) { write_all(fd, bytes); }, can_redraw(surroundings_of(fd)),
           static_cast<std::size_t>(surroundings_of(fd).columns), real_clock()) {
  m_fd = fd;
}

Live::~Live() { finish(); }

bool Live::due() const { return m_redraw && (!m_ever || m_clock->now_ns() - m_last_ns >= k_interval_ns); }

void Live::show(std::vector<std::string> lines) {
  if (!m_redraw) return;
  m_lines = std::move(lines);
  m_pending = true;
  if (due()) draw();
}

void Live::note(std::string_view line) {
  if (!m_redraw) {
    m_write(std::string(line) + "\n");
    return;
  }
  // One write for all of it, so that nothing flickers; the note overwrites lines of the block.
  std::string out = to_top();
  const std::string_view end = m_drawn > 0 ? "\x1b[K\n" : "\n";
  for (const std::string_view part : split(line, '\n')) {
    out += part;
    out += end;
  }
  m_write(out + block());
}

void Live::finish() {
  if (m_pending) draw();
  m_lines.clear();
  m_drawn = 0;
}

void Live::clear() {
  if (m_drawn > 0) m_write(to_top() + "\x1b[J");
  m_lines.clear();
  m_drawn = 0;
  m_pending = false;
}

void Live::draw() {
  std::string out = to_top();
  out += block();
  m_write(out);
}

std::string Live::to_top() const { return m_drawn > 0 ? fmt::format("\r\x1b[{}A", m_drawn) : ""; }

/// The lines as they are drawn from the top of the block on; what is left of an older, longer block goes.
std::string Live::block() {
  if (m_fd >= 0) m_columns = static_cast<std::size_t>(surroundings_of(m_fd).columns);
  std::string out;
  for (const std::string& line : m_lines) out += fit(line, m_columns) + "\x1b[K\n";
  if (m_drawn > 0) out += "\x1b[J";
  m_drawn = m_lines.size();
  m_pending = false;
  if (!m_lines.empty()) {
    m_ever = true;
    m_last_ns = m_clock->now_ns();
  }
  return out;
}

}  // namespace tunesmith::term
