#include "term/live.h"

#include <gtest/gtest.h>

#include "term/width.h"

using namespace tunesmith;
using namespace tunesmith::term;

namespace {

class HandClock : public Clock {
 public:
  [[nodiscard]] std::int64_t now_ns() const override { return ns; }
  void advance_ms(std::int64_t ms) { ns += ms * 1'000'000; }
  std::int64_t ns = 5;
};

/// A terminal small enough to follow by eye: knows \r, \n, ESC[nA, ESC[K, ESC[J.
class Screen {
 public:
  void write(std::string_view bytes) {
    ++writes;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (bytes[i] == '\r') {
        m_column = 0;
      } else if (bytes[i] == '\n') {
        ++m_row;
        m_column = 0;
      } else if (bytes[i] == '\x1b') {
        const std::size_t end = bytes.find_first_of("AKJ", i);
        const std::string number(bytes.substr(i + 2, end - i - 2));
        if (bytes[end] == 'A') m_row -= std::stoul(number);
        if (bytes[end] == 'K') line().resize(m_column);
        if (bytes[end] == 'J') {
          line().resize(m_column);
          m_lines.resize(m_row + 1);
        }
        i = end;
      } else {
        std::string& now = line();
        if (now.size() <= m_column) now.resize(m_column + 1, ' ');
        now[m_column++] = bytes[i];
      }
    }
  }

  [[nodiscard]] std::string text() const {
    std::string out;
    for (const std::string& l : m_lines) out += l + "\n";
    while (out.ends_with("\n\n")) out.pop_back();
    return out == "\n" ? "" : out;
  }

  int writes = 0;

 private:
  std::string& line() {
    if (m_lines.size() <= m_row) m_lines.resize(m_row + 1);
    return m_lines[m_row];
  }
  std::vector<std::string> m_lines{""};
  std::size_t m_row = 0;
  std::size_t m_column = 0;
};

class LiveTest : public testing::Test {
 protected:
  Live make(bool redraw = true, std::size_t columns = 40) {
    return Live([this](std::string_view bytes) { screen.write(bytes); }, redraw, columns, clock);
  }
  HandClock clock;
  Screen screen;
};

}  // namespace

TEST_F(LiveTest, RedrawsInPlace) {
  Live live = make();
  live.show({"one", "two"});
  clock.advance_ms(200);
  live.show({"uno", "dos"});
  EXPECT_EQ(screen.text(), "uno\ndos\n");
}

TEST_F(LiveTest, ShorterBlockLeavesNothingBehind) {
  Live live = make();
  live.show({"one", "a long second line", "three"});
  clock.advance_ms(200);
  live.show({"x"});
  EXPECT_EQ(screen.text(), "x\n");
}

TEST_F(LiveTest, DrawsAtMostTenTimesASecond) {
  Live live = make();
  for (int ms = 0; ms < 1000; ++ms) {
    live.show({std::to_string(ms)});
    clock.advance_ms(1);
  }
  EXPECT_EQ(screen.writes, 10);
  EXPECT_EQ(screen.text(), "900\n");
  EXPECT_TRUE(live.due());
  live.finish();
  EXPECT_EQ(screen.text(), "999\n") << "the last state is not lost";
}

TEST_F(LiveTest, NotesScrollAboveTheBlock) {
  Live live = make();
  live.note("started");
  live.show({"block of some length", "bottom"});
  live.note("new best");
  live.note("two\nlines");
  EXPECT_EQ(screen.text(), "started\nnew best\ntwo\nlines\nblock of some length\nbottom\n");
}

TEST_F(LiveTest, NoteBringsWhatIsRemembered) {
  Live live = make();
  live.show({"old"});
  live.show({"new"});
  live.note("n");
  EXPECT_EQ(screen.text(), "n\nnew\n");
}

TEST_F(LiveTest, WithoutATerminalOnlyNotesAppear) {
  Live live = make(false);
  live.show({"block"});
  live.note("note");
  live.show({"block"});
  EXPECT_FALSE(live.due());
  live.finish();
  EXPECT_EQ(screen.text(), "note\n");
}

TEST_F(LiveTest, LongLinesAreCutSinceAWrappedOneCannotBeRedrawn) {
  Live live = make(true, 10);
  live.show({std::string(30, 'x')});
  EXPECT_EQ(width(screen.text().substr(0, screen.text().find('\n'))), 10U);
}

TEST_F(LiveTest, ClearTakesTheBlockAwayAndFinishLeavesIt) {
  Live live = make();
  live.show({"gone"});
  live.clear();
  EXPECT_EQ(screen.text(), "");
  clock.advance_ms(200);
  live.show({"stays"});
  live.finish();
  live.note("after");
  EXPECT_EQ(screen.text(), "stays\nafter\n");
}

TEST_F(LiveTest, DestructorDrawsTheLastState) {
  {
    Live live = make();
    live.show({"a"});
    live.show({"b"});
  }
  EXPECT_EQ(screen.text(), "b\n");
}
