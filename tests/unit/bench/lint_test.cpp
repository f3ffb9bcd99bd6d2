#include "bench/lint.h"

#include <gtest/gtest.h>

#include "bench/references.h"
#include "support/tiny_case.h"

namespace tunesmith::bench {
namespace {

/// What the linter says of a case after its expected outputs are replaced by `values`.
struct Linted {
  TinyCase tiny;
  std::optional<Case> c;
  std::optional<InputPool> pool;
  CompareRules rules;

  explicit Linted(double absolute = 1e-3) {
    c = tiny.load();
    auto made = InputPool::make(*c, c->shapes, 3, 3);
    if (!made || !compute_builtin(*c, *made)) std::abort();
    pool.emplace(std::move(*made));
    rules.tolerance.absolute = absolute;
  }
  void expect(double value) {
    for (InputSet& set : pool->shapes()[0].sets)
      std::fill(set.expected[2].begin(), set.expected[2].end(), value);
  }
  std::string line() {
    const auto status = lint_tolerance(*c, *pool, rules);
    return status ? "" : status.error().line();
  }
};

testing::AssertionResult names(const std::string& line, const std::string& what) {
  if (line.find("tolerance is worthless") == std::string::npos)
    return testing::AssertionFailure() << "accepted: " << line;
  if (line.find(what) == std::string::npos) return testing::AssertionFailure() << line;
  if (line.find("\"c\"") == std::string::npos || line.find("/tolerance") == std::string::npos)
    return testing::AssertionFailure() << line;
  return testing::AssertionSuccess();
}

TEST(LintTest, AnHonestToleranceIsAccepted) { EXPECT_EQ(Linted(1e-3).line(), ""); }

TEST(LintTest, AToleranceThatZerosMeetIsRefused) {
  Linted linted(1e3);
  EXPECT_TRUE(names(linted.line(), "all zeros"));
}

TEST(LintTest, AnExpectedResultOfOnesIsRefused) {
  Linted linted;
  linted.expect(1);
  EXPECT_TRUE(names(linted.line(), "all ones"));
}

TEST(LintTest, AConstantResultIsRefused) {
  Linted linted;
  linted.expect(3);
  EXPECT_TRUE(names(linted.line(), "the mean of the reference"));
}

TEST(LintTest, ANanPassesOnlyACarelessComparison) {
  Linted linted;
  linted.rules.nan_rule = false;
  EXPECT_TRUE(names(linted.line(), "all NaN"));
}

TEST(LintTest, AResultThatDoesNotDependOnTheInputsIsRefused) {
  Linted linted;
  for (InputSet& set : linted.pool->shapes()[0].sets)
    set.expected[2] = linted.pool->shapes()[0].sets[0].expected[2];
  EXPECT_TRUE(names(linted.line(), "the result for other inputs"));
}

TEST(LintTest, ACopyOfAnInputIsRefused) {
  Linted linted;
  for (std::size_t s = 0; s < linted.pool->shapes()[0].sets.size(); ++s) {
    auto& want = linted.pool->shapes()[0].sets[s].expected[2];
    for (std::size_t i = 0; i < want.size(); ++i)
      want[i] = read_element(linted.pool->input(0, s, 1), Dtype::f32, i);
  }
  EXPECT_TRUE(names(linted.line(), "a copy of an input"));
}

TEST(LintTest, ACaseWithoutACheckedOutputIsRefused) {
  Linted linted;
  linted.pool->shapes()[0].layout.arguments[2].role = Role::workspace;
  EXPECT_NE(linted.line().find("no output is checked"), std::string::npos) << linted.line();
}

}  // namespace
}  // namespace tunesmith::bench
