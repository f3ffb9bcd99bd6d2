#include "app/help.h"

#include <gtest/gtest.h>

#include <set>

#include "app/parse.h"
#include "app/table.h"
#include "base/text.h"

namespace tunesmith::app {
namespace {

TEST(HelpTest, EveryVerbTeachesWithAnExampleThatParses) {
  for (const Command& command : command_table()) {
    const std::string text = help_of(command);
    EXPECT_NE(text.find(command.summary), std::string::npos) << command.name;
    ASSERT_FALSE(command.examples.empty()) << command.name;
    for (const Example& example : command.examples) {
      EXPECT_NE(text.find(example.line), std::string::npos) << command.name;
      std::string line = example.line;
      if (line.starts_with("source <(")) line = line.substr(9, line.size() - 10);
      std::vector<std::string> words;
      for (const std::string_view word : split(line, ' ')) words.emplace_back(word);
      ASSERT_EQ(words.front(), "tunesmith") << example.line;
      words.erase(words.begin());
      const auto parsed = parse_words(command_table(), words);
      EXPECT_TRUE(parsed) << example.line << ": " << (parsed ? "" : parsed.error().line());
    }
  }
}

TEST(HelpTest, WordsOfTheTableFollowTheHouseStyle) {
  std::set<std::string> names;
  for (const Command& command : command_table()) {
    EXPECT_TRUE(names.insert(command.name).second) << command.name;
    EXPECT_NE(command.run, nullptr) << command.name;
    EXPECT_FALSE(command.summary.ends_with(".")) << command.name;
    for (const Option& option : command.options) {
      EXPECT_FALSE(option.help.empty()) << command.name << " " << option.name;
      EXPECT_FALSE(option.help.ends_with(".")) << command.name << " " << option.name;
      EXPECT_EQ(option.value.empty(), option.kind == Kind::toggle) << command.name << " " << option.name;
      EXPECT_EQ(option.choices.empty(), option.kind != Kind::choice) << command.name << " " << option.name;
    }
  }
}

TEST(HelpTest, HelpFitsAHundredColumns) {
  for (const Command& command : command_table()) {
    for (const std::string_view line : split_lines(help_of(command))) {
      if (line.starts_with("  tunesmith") || line.starts_with("Exit status")) continue;  // to be copied whole
      EXPECT_LE(line.size(), 110U) << command.name << ": " << line;
    }
  }
}

TEST(HelpTest, TheOverviewNamesEveryVerb) {
  const std::string text = overview(command_table());
  for (const Command& command : command_table()) {
    EXPECT_NE(text.find("\n  " + command.name), std::string::npos) << command.name;
  }
}

TEST(HelpTest, FoldingKeepsWordsWholeAndParagraphsApart) {
  EXPECT_EQ(fold("one two three", 2, 9), "  one two\n  three");
  EXPECT_EQ(fold("a\nb", 0, 10), "a\nb");
  EXPECT_EQ(fold("unbreakable-long-word", 0, 5), "unbreakable-long-word");
}

TEST(ManPageTest, EscapesWhatRoffWouldInterpret) {
  Command command;
  command.name = "x";
  command.summary = "A dash-ed \\ word";
  command.text = ".hidden starts with a dot\n'quote";
  const std::string page = man_page({command});
  EXPECT_NE(page.find("A dash\\-ed \\e word"), std::string::npos);
  EXPECT_NE(page.find("\n\\&.hidden"), std::string::npos);
  EXPECT_NE(page.find("\n\\&'quote"), std::string::npos);
}

TEST(ManPageTest, HoldsEveryVerbAndEveryOption) {
  const std::string page = man_page(command_table());
  for (const Command& command : command_table()) {
    std::string name;  // a hyphen of a name is one that can be copied: \-
    for (const char c : command.name) name += c == '-' ? std::string("\\-") : std::string(1, c);
    EXPECT_NE(page.find(".SS \"tunesmith " + name), std::string::npos) << command.name;
  }
  EXPECT_NE(page.find("\\-\\-evaluations"), std::string::npos);
  EXPECT_NE(page.find(".SH EXIT STATUS"), std::string::npos);
}

TEST(CompletionTest, EveryShellKnowsEveryVerbAndFlag) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const auto script = completion_script(command_table(), shell);
    ASSERT_TRUE(script);
    for (const Command& command : command_table()) {
      const std::string word = command.name.substr(0, command.name.find(' '));
      EXPECT_NE(script->find(word), std::string::npos) << shell << " " << command.name;
    }
    EXPECT_NE(script->find("evaluations"), std::string::npos) << shell;
  }
  EXPECT_FALSE(completion_script(command_table(), "tcsh"));
}

}  // namespace
}  // namespace tunesmith::app
