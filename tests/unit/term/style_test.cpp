#include "term/style.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

using namespace tunesmith::term;

namespace {

Surroundings terminal() {
  Surroundings around;
  around.terminal = true;
  return around;
}

}  // namespace

TEST(StyleTest, AutomaticColourNeedsATerminal) {
  EXPECT_TRUE(use_color(ColorMode::automatic, terminal()));
  EXPECT_FALSE(use_color(ColorMode::automatic, Surroundings{}));
}

TEST(StyleTest, NoColorAndDumbTerminalsTurnItOff) {
  Surroundings quiet = terminal();
  quiet.no_color = true;
  EXPECT_FALSE(use_color(ColorMode::automatic, quiet));
  EXPECT_TRUE(can_redraw(quiet)) << "NO_COLOR is about colour only";
  Surroundings dumb = terminal();
  dumb.dumb = true;
  EXPECT_FALSE(use_color(ColorMode::automatic, dumb));
  EXPECT_FALSE(can_redraw(dumb));
}

TEST(StyleTest, TheFlagWinsOverTheSurroundings) {
  Surroundings quiet;
  quiet.no_color = true;
  EXPECT_TRUE(use_color(ColorMode::always, quiet));
  EXPECT_FALSE(use_color(ColorMode::never, terminal()));
}

TEST(StyleTest, KnowsThreeWords) {
  EXPECT_EQ(color_mode("auto"), ColorMode::automatic);
  EXPECT_EQ(color_mode("always"), ColorMode::always);
  EXPECT_EQ(color_mode("never"), ColorMode::never);
  EXPECT_FALSE(color_mode("yes"));
  EXPECT_FALSE(color_mode(""));
}

TEST(StyleTest, PlainStyleChangesNothing) { EXPECT_EQ(Style(false).red("x"), "x"); }

TEST(StyleTest, ColouredStyleWrapsAndNests) {
  const Style style(true);
  EXPECT_EQ(style.red("x"), "\x1b[31mx\x1b[0m");
  EXPECT_EQ(style.red(""), "");
  EXPECT_EQ(style.dim("a" + style.red("b") + "c"), "\x1b[2ma\x1b[31mb\x1b[0m\x1b[2mc\x1b[0m");
  EXPECT_EQ(style.bold(style.green("x")), "\x1b[1m\x1b[32mx\x1b[0m");
}

TEST(StyleTest, ReadsTheSurroundingsOfAPipe) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  setenv("NO_COLOR", "1", 1);
  setenv("TERM", "dumb", 1);
  setenv("COLUMNS", "123", 1);
  setenv("LC_ALL", "C", 1);
  Surroundings around = surroundings_of(ends[1]);
  EXPECT_FALSE(around.terminal);
  EXPECT_TRUE(around.no_color);
  EXPECT_TRUE(around.dumb);
  EXPECT_EQ(around.columns, 123);
  EXPECT_FALSE(around.utf8);
  setenv("NO_COLOR", "", 1);  // set but empty does not count (no-color.org)
  setenv("TERM", "xterm", 1);
  setenv("COLUMNS", "many", 1);
  setenv("LC_ALL", "de_DE.UTF-8", 1);
  around = surroundings_of(ends[1]);
  EXPECT_FALSE(around.no_color);
  EXPECT_FALSE(around.dumb);
  EXPECT_EQ(around.columns, 80);
  EXPECT_TRUE(around.utf8);
  close(ends[0]);
  close(ends[1]);
}
