#include "term/width.h"

#include <gtest/gtest.h>

using namespace tunesmith::term;

TEST(WidthTest, CountsColumnsAndNotBytes) {
  EXPECT_EQ(width("abc"), 3U);
  EXPECT_EQ(width("größe"), 5U);
  EXPECT_EQ(width("内核"), 4U);
  EXPECT_EQ(width("🚀"), 2U);
  EXPECT_EQ(width("e\u0301"), 1U) << "a combining accent takes no column";
  EXPECT_EQ(width("█░│"), 3U);
}

TEST(WidthTest, ColourTakesNoColumns) { EXPECT_EQ(width("\x1b[1;31mred\x1b[0m"), 3U); }

TEST(WidthTest, SurvivesBrokenUtf8) {
  EXPECT_EQ(width("\xff\xfe"), 2U);
  EXPECT_EQ(width("a\xe2\x82"), 3U) << "cut in the middle of a character";
  EXPECT_EQ(width("\x1b["), 0U);
}

TEST(WidthTest, FitCutsOnACharacterBoundaryAndMarksIt) {
  EXPECT_EQ(fit("abcdef", 6), "abcdef");
  EXPECT_EQ(fit("abcdef", 4), "abc…");
  EXPECT_EQ(fit("内核内核", 4), "内…") << "half a wide character does not fit";
  EXPECT_EQ(fit("abc", 0), "");
  EXPECT_EQ(fit("abc", 1), "…");
}

TEST(WidthTest, FitSwitchesColourOffAtTheCut) {
  EXPECT_EQ(fit("\x1b[31mabcdef\x1b[0m", 3), "\x1b[31mab…\x1b[0m");
  EXPECT_EQ(fit("\x1b[31mab\x1b[0mcdef", 4), "\x1b[31mab\x1b[0mc…");
}

TEST(WidthTest, PadsToColumns) {
  EXPECT_EQ(pad_right("ü", 3), "ü  ");
  EXPECT_EQ(pad_left("内", 3), " 内");
  EXPECT_EQ(pad_left("abcd", 3), "abcd");
}
