#include "space/expression.h"

#include <gtest/gtest.h>

#include <limits>

namespace tunesmith::space {
namespace {

const std::vector<Name> k_names = {
    {"a", ValueKind::integer},  {"b", ValueKind::integer},  {"block_size_x", ValueKind::integer},
    {"ratio", ValueKind::real}, {"on", ValueKind::boolean}, {"layout", ValueKind::string}};

std::vector<Value> environment(std::int64_t a = 7, std::int64_t b = 0) {
  return {Value(a), Value(b), Value(std::int64_t{32}), Value(0.5), Value(true), Value(std::string("row"))};
}

Result<Value> run(const std::string& text, std::int64_t a = 7, std::int64_t b = 0) {
  TS_ASSIGN(const Expression expression, Expression::parse(text, k_names));
  return expression.evaluate(environment(a, b));
}

/// Kind and value together: 4 and 4.0 and True are three answers.
std::string answer(const std::string& text, std::int64_t a = 7, std::int64_t b = 0) {
  const Result<Value> value = run(text, a, b);
  if (!value) return "error: " + value.error().message;
  return std::string(kind_name(kind_of(*value))) + " " + value_text(*value);
}

std::string refusal(const std::string& text) {
  const auto expression = Expression::parse(text, k_names, {"case.json", 12, 5, "/constraints/0"});
  return expression ? "accepted" : expression.error().line();
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(ExpressionTest, DividesAsPythonDoes) {
  EXPECT_EQ(answer("7 // 2"), "integer 3");
  EXPECT_EQ(answer("-7 // 2"), "integer -4");
  EXPECT_EQ(answer("7 // -2"), "integer -4");
  EXPECT_EQ(answer("-7 % 3"), "integer 2");
  EXPECT_EQ(answer("7 % -3"), "integer -2");
  EXPECT_EQ(answer("7 / 2"), "real 3.5");
  EXPECT_EQ(answer("8 / 2"), "real 4.0");
  EXPECT_EQ(answer("-7.5 // 2"), "real -4.0");
  EXPECT_EQ(answer("-7.5 % 2"), "real 0.5");
  EXPECT_EQ(answer("32 % (256 / 8)"), "real 0.0");
}

TEST(ExpressionTest, RaisesToPowersFromTheRight) {
  EXPECT_EQ(answer("2 ** 3 ** 2"), "integer 512");
  EXPECT_EQ(answer("-2 ** 2"), "integer -4");
  EXPECT_EQ(answer("(-2) ** 2"), "integer 4");
  EXPECT_EQ(answer("2 ** -1"), "real 0.5");
  EXPECT_EQ(answer("(-2) ** 63"), "integer -9223372036854775808");
  EXPECT_EQ(answer("1 ** 1000000"), "integer 1");
}

TEST(ExpressionTest, ChainsComparisonsAsPythonDoes) {
  EXPECT_EQ(answer("1 <= a < 8"), "boolean true");
  EXPECT_EQ(answer("1 <= a < 7"), "boolean false");
  EXPECT_EQ(answer("3 > 2 > 1"), "boolean true");  // C would compare True > 1
  EXPECT_EQ(answer("0 == b != 1"), "boolean true");
}

TEST(ExpressionTest, BindsOperatorsInPythonsOrder) {
  EXPECT_EQ(answer("1 + 2 * 3"), "integer 7");
  EXPECT_EQ(answer("not a == 7"), "boolean false");
  EXPECT_EQ(answer("a == 7 or b == 1 and a == 0"), "boolean true");
  EXPECT_EQ(answer("a & a - 1 == 6"), "boolean true");  // in C: a & ((a - 1) == 6)
  EXPECT_EQ(answer("1 | 6 ^ 2 << 1"), "integer 3");
}

TEST(ExpressionTest, LeavesTheRestAloneOnceAndOrAreDecided) {
  EXPECT_EQ(answer("b == 0 or a % b == 0"), "boolean true");
  EXPECT_EQ(answer("b != 0 and a % b == 0"), "boolean false");
  EXPECT_EQ(answer("1 if b == 0 else a // b"), "integer 1");
  EXPECT_EQ(answer("a < b < 1 // b"), "boolean false");
  EXPECT_EQ(answer("b or 5"), "integer 5");
}

TEST(ExpressionTest, AcceptsTheOperatorsOfC) {
  EXPECT_EQ(answer("a == 7 && !(b == 1)"), "boolean true");
  EXPECT_EQ(answer("b || a"), "boolean true");
  EXPECT_EQ(answer("!b == 1"), "boolean true");  // binds like a sign, as in C
}

TEST(ExpressionTest, FindsMembers) {
  EXPECT_EQ(answer("a in [1, 7.0]"), "boolean true");
  EXPECT_EQ(answer("a not in (1, 2)"), "boolean true");
  EXPECT_EQ(answer("a in (7,)"), "boolean true");
  EXPECT_EQ(answer("a in []"), "boolean false");
  EXPECT_EQ(answer("layout in ['row', \"column\"]"), "boolean true");
  EXPECT_EQ(answer("'ow' in layout"), "boolean true");
  EXPECT_EQ(answer("layout == 'row' and layout != 'column' and layout > 'col'"), "boolean true");
  EXPECT_EQ(answer("layout == a"), "boolean false");
}

TEST(ExpressionTest, KnowsTheFunctions) {
  EXPECT_EQ(answer("min(3, a, 2.5)"), "real 2.5");
  EXPECT_EQ(answer("max([1, a])"), "integer 7");
  EXPECT_EQ(answer("max(1, True)"), "integer 1");  // the first of equals
  EXPECT_EQ(answer("abs(-3)"), "integer 3");
  EXPECT_EQ(answer("ceil(a / 2)"), "integer 4");
  EXPECT_EQ(answer("math.floor(-0.5)"), "integer -1");
  EXPECT_EQ(answer("int(-3.9)"), "integer -3");
  EXPECT_EQ(answer("float(3)"), "real 3.0");
  EXPECT_EQ(answer("log2(1024)"), "real 10.0");
  EXPECT_EQ(answer("len(layout) + len([1, 2])"), "integer 5");
}

TEST(ExpressionTest, RoundsHalvesToEven) {
  EXPECT_EQ(answer("round(0.5)"), "integer 0");
  EXPECT_EQ(answer("round(1.5)"), "integer 2");
  EXPECT_EQ(answer("round(2.5)"), "integer 2");
  EXPECT_EQ(answer("round(-2.5)"), "integer -2");
  EXPECT_EQ(answer("round(2.675, 2)"), "real 2.67");
}

TEST(ExpressionTest, CountsBooleansAsNumbers) {
  EXPECT_EQ(answer("on + on"), "integer 2");
  EXPECT_EQ(answer("on == 1"), "boolean true");
  EXPECT_EQ(answer("True & False"), "boolean false");
  EXPECT_EQ(answer("-True"), "integer -1");
}

TEST(ExpressionTest, ComparesLargeIntegersWithRealsExactly) {
  EXPECT_EQ(answer("9007199254740993 == 9007199254740992.0"), "boolean false");
  EXPECT_EQ(answer("9007199254740993 > 9007199254740992.0"), "boolean true");
  EXPECT_EQ(answer("9223372036854775807 < 1e19"), "boolean true");
}

TEST(ExpressionTest, ReadsNumbersInEveryForm) {
  EXPECT_EQ(answer("0x1F + 0b101 + 0o17"), "integer 51");
  EXPECT_EQ(answer("1_000"), "integer 1000");
  EXPECT_EQ(answer("1e3"), "real 1000.0");
  EXPECT_EQ(answer(".5 + 1."), "real 1.5");
  EXPECT_TRUE(contains(refusal("012"), "begins with 0"));
  EXPECT_TRUE(contains(refusal("9223372036854775808"), "64 bits"));
  EXPECT_TRUE(contains(refusal("2a"), "not a number"));
}

TEST(ExpressionTest, ReportsOverflowInsteadOfWrapping) {
  for (const char* text :
       {"9223372036854775807 + 1", "a * 9223372036854775807", "2 ** 63", "-(-9223372036854775807 - 1)",
        "abs(-9223372036854775807 - 1)", "(-9223372036854775807 - 1) // -1", "1 << 63", "int(1e19)"})
    EXPECT_TRUE(contains(answer(text), "does not fit")) << text << ": " << answer(text);
  EXPECT_EQ(answer("(-9223372036854775807 - 1) % -1"), "integer 0");
}

TEST(ExpressionTest, NamesTheExpressionThatDividesByZero) {
  for (const char* text : {"a / b", "a // b", "a % b", "1.5 / b", "b ** -1"})
    EXPECT_EQ(answer(text).find("error: in \"" + std::string(text) + "\""), 0U) << answer(text);
  const auto expression = Expression::parse("1 + a // b", k_names, {"case.json", 3, 10, ""});
  const auto value = expression->evaluate(environment());
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().place.column, 17);
}

TEST(ExpressionTest, PointsAtAnUnknownNameAndSuggestsTheNearest) {
  const auto expression =
      Expression::parse("1 < blok_size_x", k_names, {"case.json", 12, 5, "/constraints/0"});
  ASSERT_FALSE(expression);
  EXPECT_EQ(expression.error().place.line, 12);
  EXPECT_EQ(expression.error().place.column, 10);  // 5, the quote, 4 characters
  EXPECT_TRUE(contains(expression.error().mend, "block_size_x"));
  EXPECT_TRUE(contains(expression.error().line(), "case.json:12:10")) << expression.error().line();
  EXPECT_TRUE(contains(refusal("mim(a, b)"), "did you mean 'min'"));
}

TEST(ExpressionTest, RefusesKindsThatCannotMeetWhenItIsRead) {
  for (const char* text : {"layout + 1", "layout < 3", "-layout", "[1, 2] + 1", "a in 5", "1 in 'x'",
                           "len(a)", "min(a, layout)", "0.5 & 1", "[1, 2]", "ceil(layout)", "layout * 2"})
    EXPECT_NE(refusal(text), "accepted") << text;
}

TEST(ExpressionTest, RefusesWhatIsNoExpression) {
  for (const char* text : {"",          "   ",    "a +",   "(a",         "a)",      "a b",   "a = 7",
                           "a ? 1 : 2", "1 if a", "min()", "abs(1, 2)",  "'open",   "a @ b", "a not b",
                           "a..b",      "[1, 2",  "in a",  "a == not b", "max([])", "a.b",   "math.pi"})
    EXPECT_NE(refusal(text), "accepted") << text;
  EXPECT_TRUE(contains(refusal("a = 7"), "write =="));
}

TEST(ExpressionTest, RefusesNestingThatWouldOverflowTheStack) {
  EXPECT_NE(refusal(std::string(5000, '(') + "1" + std::string(5000, ')')), "accepted");
  EXPECT_NE(refusal(std::string(5000, '-') + "1"), "accepted");
  std::string nots;
  std::string powers;
  std::string chain = "1";
  for (int i = 0; i < 2500; ++i) {
    nots += "not ";
    powers += "1**";
    chain += "+1";
  }
  EXPECT_NE(refusal(nots + "1"), "accepted");
  EXPECT_NE(refusal(powers + "1"), "accepted");
  EXPECT_NE(refusal(chain), "accepted");
}

TEST(ExpressionTest, GivesWholeNumbersOnlyWhenTheyAreWhole) {
  const auto whole = [](const char* text) {
    return Expression::parse(text, k_names)->evaluate_int(environment());
  };
  EXPECT_EQ(whole("8 / 2").value(), 4);
  EXPECT_FALSE(whole("7 / 2"));
  EXPECT_FALSE(whole("layout"));
  EXPECT_FALSE(whole("1e30"));
  const auto number = [](const char* text) {
    return Expression::parse(text, k_names)->evaluate_number(environment());
  };
  EXPECT_EQ(number("ratio").value(), 0.5);
  EXPECT_FALSE(number("layout"));
  EXPECT_TRUE(Expression::parse("layout", k_names)->evaluate_bool(environment()).value());
}

TEST(ExpressionTest, TellsWhichNamesItReads) {
  const auto expression = Expression::parse("ratio > 0 and a < ratio", k_names);
  EXPECT_EQ(expression->used(), (std::vector<std::size_t>{0, 3}));
  EXPECT_TRUE(Expression::parse("1", {})->used().empty());
}

TEST(ExpressionTest, TakesWholeNumbersInARealParameter) {
  const auto expression = Expression::parse("ratio // 2", k_names);
  std::vector<Value> values = environment();
  values[3] = Value(std::int64_t{7});
  EXPECT_EQ(expression->evaluate(values).value(), Value(std::int64_t{3}));
}

}  // namespace
}  // namespace tunesmith::space
