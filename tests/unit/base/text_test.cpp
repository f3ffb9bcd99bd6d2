#include "base/text.h"

#include <gtest/gtest.h>

using namespace tunesmith;

using Views = std::vector<std::string_view>;

TEST(TextTest, SplitKeepsEmptyParts) {
  EXPECT_EQ(split("a,,b,", ','), (Views{"a", "", "b", ""}));
  EXPECT_EQ(split("", ','), Views{""});
}

TEST(TextTest, SplitLinesTakesBothLineEnds) {
  EXPECT_EQ(split_lines("a\r\n\nb\n"), (Views{"a", "", "b"}));
  EXPECT_EQ(split_lines("a\nb"), (Views{"a", "b"}));
  EXPECT_EQ(split_lines(""), Views{});
}

TEST(TextTest, TrimTakesSpaceFromBothEnds) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
}

TEST(TextTest, JoinKeepsEmptyParts) {
  EXPECT_EQ(join({"", "a", ""}, ","), ",a,");
  EXPECT_EQ(join({}, ","), "");
}

TEST(NearestTest, FindsTheTypingMistake) {
  EXPECT_EQ(nearest("parametres", {"constraints", "parameters"}), "parameters");
  EXPECT_EQ(nearest("shape", {"shapes", "flags"}), "shapes");
}

TEST(NearestTest, SuggestsNothingForAnotherWord) {
  EXPECT_EQ(nearest("colour", {"shapes", "flags"}), "");
  EXPECT_EQ(nearest("x", {"y"}), "") << "all of it replaced is no mistake";
  EXPECT_EQ(nearest("x", {}), "");
}

TEST(CutTest, CutsOnACharacterBoundaryWithinTheLimit) {
  EXPECT_EQ(cut("abcdef", 6), "abcdef");
  EXPECT_EQ(cut("abcdefg", 6), "abc…");
  EXPECT_EQ(cut("ääää", 6), "ä…") << "6 bytes: 3 for the mark, and half an ä does not fit into the other 3";
  EXPECT_EQ(cut("abcdef", 3), "…");
  EXPECT_EQ(cut("abcdef", 2), "");
}

TEST(PrintableTest, ShowsControlCharacters) {
  EXPECT_EQ(printable("a\x1b[2Jb\x07\x7f"), "a\\x1b[2Jb\\x07\\x7f");
  EXPECT_EQ(printable("line\n\ttab"), "line\n\ttab");
  EXPECT_EQ(printable("größe 内核"), "größe 内核");
}

TEST(PrintableTest, ShowsTheEightBitControlsThatSomeTerminalsObey) {
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\xc2\\x9b2J");
  EXPECT_EQ(printable("\u00a9"), "\u00a9");
}

TEST(PrintableTest, ShowsMarksThatTurnTheWriting) { EXPECT_EQ(printable("a\u202Eb"), "a\\xe2\\x80\\xaeb"); }

TEST(PrintableTest, AlwaysGivesValidUtf8) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("a\xe2\x82"), "a\\xe2\\x82") << "cut in mid character";
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "overlong";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "surrogate";
}

TEST(Utf8LengthTest, MeasuresTheFirstCharacter) {
  EXPECT_EQ(utf8_length("a"), 1U);
  EXPECT_EQ(utf8_length("ä"), 2U);
  EXPECT_EQ(utf8_length("内"), 3U);
  EXPECT_EQ(utf8_length("🚀"), 4U);
  EXPECT_EQ(utf8_length("\xf4\x90\x80\x80"), 0U) << "beyond U+10FFFF";
  EXPECT_EQ(utf8_length("\xf0\x80\x80\x80"), 0U) << "overlong";
  EXPECT_EQ(utf8_length(""), 0U);
}
