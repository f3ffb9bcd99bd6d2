#include "term/table.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "term/width.h"

using namespace tunesmith;
using namespace tunesmith::term;

namespace {

Table example() {
  Table table({{"shape"}, {"latency", Align::right}, {"speedup", Align::right}});
  table.row({"8x2048x2048", "0.412 ms", "1.58x"}).row({"größe 内核", "12.000 ms", "1.00x"});
  return table;
}

}  // namespace

TEST(TableTest, DrawsABoxThatAPersonWantsToLookAt) {
  EXPECT_EQ(example().title("skinny GEMM").rule().row({"all", "", "1.26x"}).text(),
            "╭─ skinny GEMM ─────────────────────╮\n"
            "│ shape       │   latency │ speedup │\n"
            "├─────────────┼───────────┼─────────┤\n"
            "│ 8x2048x2048 │  0.412 ms │   1.58x │\n"
            "│ größe 内核  │ 12.000 ms │   1.00x │\n"
            "├─────────────┼───────────┼─────────┤\n"
            "│ all         │           │   1.26x │\n"
            "╰─────────────┴───────────┴─────────╯\n");
}

TEST(TableTest, PlainLinesCarryNoTrailingSpaces) {
  EXPECT_EQ(example().text(Lines::none),
            "shape          latency  speedup\n"
            "───────────  ─────────  ───────\n"
            "8x2048x2048   0.412 ms    1.58x\n"
            "größe 内核   12.000 ms    1.00x\n");
  Table left({{"a"}, {"b"}});
  left.row({"long cell", ""});
  EXPECT_EQ(left.text(Lines::none), "a          b\n─────────  ─\nlong cell\n");
}

TEST(TableTest, AsciiForTerminalsWithoutUtf8) {
  Table table({{"a"}, {"n", Align::right}});
  table.row({"x", "10"});
  EXPECT_EQ(table.text(Lines::ascii),
            "+---+----+\n"
            "| a |  n |\n"
            "+---+----+\n"
            "| x | 10 |\n"
            "+---+----+\n");
}

TEST(TableTest, EveryLineOfABoxIsEquallyWideWhateverTheColour) {
  const Style style(true);
  Table table({{"verdict"}, {"detail"}});
  table.title("a title that is far longer than the columns below it are");
  table.row({style.green("FASTER"), "内核"}).row({style.red("WRONG_RESULT"), "x"});
  const std::string drawn = table.text(Lines::box, style);
  EXPECT_NE(drawn.find("columns below it are"), std::string::npos) << "the box grows to its title";
  for (const std::string_view line : split_lines(drawn))
    EXPECT_EQ(width(line), width(split_lines(drawn)[0])) << line;
}

TEST(TableTest, ShrinksTextColumnsToTheTerminal) {
  Table table({{"reason"}, {"ms", Align::right}});
  table.row({"a very long explanation of what went wrong in this candidate", "123456.789"});
  const std::string drawn = table.text(Lines::box, Style(false), 40);
  for (const std::string_view line : split_lines(drawn)) EXPECT_EQ(width(line), 40U) << line;
  EXPECT_NE(drawn.find("123456.789"), std::string::npos) << "numbers are kept whole";
  EXPECT_NE(drawn.find("…"), std::string::npos);
}

TEST(TableTest, GivesUpShrinkingBeforeCellsVanish) {
  Table table({{"reason"}});
  table.row({"abcdefghij"});
  EXPECT_NE(table.text(Lines::box, Style(false), 5).find("abcde"), std::string::npos);
}

TEST(TableTest, ColumnLimitCutsCells) {
  Table table({{"x", Align::left, 4}});
  table.row({"abcdefgh"});
  EXPECT_NE(table.text().find("│ abc… │"), std::string::npos);
}

TEST(TableTest, CellsCannotMoveTheCursor) {
  Table table({{"log"}});
  table.row({"a\nb\x1b[2Jc\td\x07"});
  const std::string drawn = table.text();
  EXPECT_NE(drawn.find("a\\nb\\x1b[2Jc\\td\\x07"), std::string::npos) << drawn;
  EXPECT_EQ(drawn.find('\x1b'), std::string::npos);
  EXPECT_EQ(split_lines(drawn).size(), 5U);
}

TEST(TableTest, ShortRowsAreFilledAndLongOnesCut) {
  Table table({{"a"}, {"b"}});
  table.row({"1"}).row({"1", "2", "3"});
  EXPECT_EQ(table.text(Lines::none), "a  b\n─  ─\n1\n1  2\n");
  EXPECT_FALSE(table.empty());
  EXPECT_EQ(Table({}).text(), "");
}
