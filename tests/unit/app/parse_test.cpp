#include "app/parse.h"

#include <gtest/gtest.h>

#include "app/table.h"

namespace tunesmith::app {
namespace {

Result<Parsed> parse(const std::vector<std::string>& words) { return parse_words(command_table(), words); }

std::string complaint(const std::vector<std::string>& words) {
  const auto parsed = parse(words);
  EXPECT_FALSE(parsed);
  if (parsed) return "";
  EXPECT_EQ(parsed.error().code, ErrorCode::usage);
  return parsed.error().line();
}

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(ParseTest, FindsTheVerbAndItsArguments) {
  const auto parsed = parse({"tune", "case.json", "--evaluations", "6", "--seed=7"});
  ASSERT_TRUE(parsed) << parsed.error().line();
  EXPECT_EQ(parsed->command->name, "tune");
  EXPECT_EQ(parsed->arguments.text("CASE"), "case.json");
  EXPECT_EQ(parsed->arguments.count("--evaluations"), 6U);
  EXPECT_EQ(parsed->arguments.count("--seed"), 7U);
  EXPECT_FALSE(parsed->arguments.has("--minutes"));
}

TEST(ParseTest, AVerbMayHaveTwoWords) {
  const auto parsed = parse({"case", "check", "x.json"});
  ASSERT_TRUE(parsed) << parsed.error().line();
  EXPECT_EQ(parsed->command->name, "case check");
  EXPECT_EQ(parsed->arguments.text("CASE"), "x.json");
}

TEST(ParseTest, RunsAloneIsAVerbAndRunsPruneIsAnother) {
  ASSERT_TRUE(parse({"runs"}));
  EXPECT_EQ(parse({"runs"})->command->name, "runs");
  EXPECT_EQ(parse({"runs", "prune", "--keep", "3"})->command->name, "runs prune");
}

TEST(ParseTest, HalfAVerbSaysWhichWordIsMissing) {
  EXPECT_TRUE(holds(complaint({"case"}), "needs one more word: check"));
}

TEST(ParseTest, AnUnknownVerbNamesTheNearest) {
  EXPECT_TRUE(holds(complaint({"tunr", "x"}), "did you mean tune?"));
  EXPECT_TRUE(holds(complaint({"zzzzzzzzz"}), "tunesmith help"));
}

TEST(ParseTest, AnUnknownFlagNamesTheNearest) {
  EXPECT_TRUE(holds(complaint({"tune", "x", "--evaluation", "3"}), "did you mean --evaluations?"));
  EXPECT_TRUE(holds(complaint({"tune", "x", "--sed=3"}), "did you mean --seed?"));
}

TEST(ParseTest, GlobalFlagsMayStandBeforeTheVerb) {
  const auto parsed = parse({"--json", "--color", "never", "runs"});
  ASSERT_TRUE(parsed) << parsed.error().line();
  EXPECT_TRUE(parsed->arguments.has("--json"));
  EXPECT_EQ(parsed->arguments.text("--color"), "never");
}

TEST(ParseTest, AnOptionOfAVerbMayNotStandBeforeIt) {
  EXPECT_TRUE(holds(complaint({"--seed", "3", "tune"}), "write the verb first"));
}

TEST(ParseTest, AValueOfTheWrongKindIsRefused) {
  EXPECT_TRUE(holds(complaint({"tune", "x", "--evaluations", "many"}),
                    "--evaluations: \"many\" is not a whole number"));
  EXPECT_TRUE(holds(complaint({"tune", "x", "--evaluations", "2.5"}), "not a whole number"));
  EXPECT_TRUE(holds(complaint({"tune", "x", "--minutes", "nan"}), "not a number"));
  EXPECT_TRUE(holds(complaint({"tune", "x", "--minutes", "1e999"}), "not a number"));
  EXPECT_TRUE(holds(complaint({"tune", "x", "--strategy", "exhaustiv"}), "did you mean exhaustive?"));
  EXPECT_TRUE(holds(complaint({"tune", ""}), "empty"));
}

TEST(ParseTest, ANegativeNumberIsRefusedAndNotTakenForAFlag) {
  const std::string text = complaint({"tune", "x", "--evaluations", "-3"});
  EXPECT_TRUE(holds(text, "--evaluations")) << text;
}

TEST(ParseTest, AMissingValueIsNamed) {
  EXPECT_TRUE(holds(complaint({"tune", "x", "--seed"}), "--seed: needs a value K"));
  EXPECT_TRUE(holds(complaint({"tune", "x", "--seed", "--json"}), "--seed: needs a value K"));
}

TEST(ParseTest, AFlagThatIsGivenTwiceIsRefused) {
  EXPECT_TRUE(holds(complaint({"tune", "x", "--seed", "1", "--seed", "2"}), "--seed: is given twice"));
}

TEST(ParseTest, AMissingArgumentIsNamed) { EXPECT_TRUE(holds(complaint({"score"}), "score needs RESULT")); }

TEST(ParseTest, AnArgumentTooManyIsRefused) {
  EXPECT_TRUE(holds(complaint({"score", "a.json", "b.json"}), "\"b.json\" is one argument too many"));
}

TEST(ParseTest, HelpIsReadEvenWhenArgumentsAreMissing) {
  const auto parsed = parse({"score", "--help"});
  ASSERT_TRUE(parsed) << parsed.error().line();
  EXPECT_TRUE(parsed->arguments.has("--help"));
}

TEST(ParseTest, NoVerbIsNoError) {
  const auto parsed = parse({});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->command, nullptr);
  EXPECT_TRUE(parse({"--version"})->version);
}

TEST(ParseTest, ShortNamesWork) {
  const auto parsed = parse({"top", "latest", "-k", "5", "-q"});
  ASSERT_TRUE(parsed) << parsed.error().line();
  EXPECT_EQ(parsed->arguments.count("-k"), 5U);
  EXPECT_TRUE(parsed->arguments.has("--quiet"));
}

}  // namespace
}  // namespace tunesmith::app
