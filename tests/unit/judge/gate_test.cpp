#include "judge/gate.h"

#include <gtest/gtest.h>

#include "support/judge_samples.h"

namespace tunesmith::judge {
namespace {

Result<Gate> parse(const std::string& text) { return Gate::from_json(*Node::parse(text, "gate.json")); }

const Requirement* find(const Gate& gate, const std::string& figure) {
  for (const Requirement& r : gate.requirements) {
    if (r.figure == figure) return &r;
  }
  return nullptr;
}

TEST(GateTest, AsksForTheArticlesFieldsByDefault) {
  const Gate gate = Gate::standard(1e-3);
  ASSERT_NE(find(gate, "max_abs_error"), nullptr);
  EXPECT_DOUBLE_EQ(find(gate, "max_abs_error")->at_most.value_or(0), 1e-3);
  EXPECT_EQ(find(gate, "latency_ms")->need, Need::required);
  EXPECT_EQ(find(gate, "tflops")->need, Need::required);
  EXPECT_TRUE(gate.floors.empty());
}

TEST(GateTest, ReadsTheThreeKindsAndStates) {
  const auto gate = parse(R"({
    "tol": 0.002,
    "numerical": {"max_rel_error": {"at_most": 0.01}, "nan_mismatch": "required"},
    "performance": {"peak_memory_bytes": {"need": "optional", "at_most": 1000}, "occupancy": "not_measurable_here"},
    "engineering": {"reproducible": "required"},
    "floors": [{"device": "H100", "shape": "a", "baseline": "b", "min_tflops": 400}],
    "rollback": {"on": "any_failure", "after": 3}})");
  ASSERT_TRUE(gate) << gate.error().line();
  EXPECT_DOUBLE_EQ(find(*gate, "max_abs_error")->at_most.value_or(0), 0.002);
  EXPECT_DOUBLE_EQ(find(*gate, "nan_mismatch")->at_most.value_or(9), 0);
  EXPECT_EQ(find(*gate, "peak_memory_bytes")->need, Need::optional);
  EXPECT_EQ(find(*gate, "occupancy")->need, Need::not_measurable_here);
  EXPECT_DOUBLE_EQ(find(*gate, "reproducible")->at_least.value_or(0), 1);
  EXPECT_DOUBLE_EQ(gate->floors.at(0).min_tflops, 400);
  EXPECT_EQ(gate->rollback.on, RollbackPolicy::On::any_failure);
  EXPECT_EQ(gate->rollback.after, 3);
}

TEST(GateTest, ReadsBackWhatItWrites) {
  const auto gate = parse(
      R"({"tol": 0.5, "performance": {"tflops": {"at_least": 3}}, "floors": [{"min_tflops": 1}], "rollback": {"on": "ask"}})");
  ASSERT_TRUE(gate);
  const auto again = Gate::from_json(*Node::parse(print_json(gate->to_json()), "again.json"));
  ASSERT_TRUE(again) << again.error().line();
  EXPECT_EQ(again->sha256(), gate->sha256());
}

TEST(GateTest, NamesAnUnknownFigureAndTheNearestKnownOne) {
  const auto gate = parse("{\n\"performance\": {\n\"tflop\": \"required\"}}");
  ASSERT_FALSE(gate);
  EXPECT_EQ(gate.error().place.line, 3);
  EXPECT_NE(gate.error().line().find("did you mean \"tflops\""), std::string::npos) << gate.error().line();
}

TEST(GateTest, RefusesAFigureUnderTheWrongKind) {
  EXPECT_FALSE(parse(R"({"numerical": {"tflops": "required"}})"));
}

TEST(GateTest, RefusesStatesBoundsAndPoliciesThatDoNotExist) {
  EXPECT_FALSE(parse(R"({"performance": {"tflops": "needed"}})"));
  EXPECT_FALSE(parse(R"({"performance": {"tflops": {"at_lest": 1}}})"));
  EXPECT_FALSE(parse(R"({"performance": {"tflops": {"at_least": 2, "at_most": 1}}})"));
  EXPECT_FALSE(parse(R"({"floors": [{"shape": "a"}]})"));
  EXPECT_FALSE(parse(R"({"floors": [{"min_tflops": -1}]})"));
  EXPECT_FALSE(parse(R"({"rollback": {"on": "never"}})"));
  EXPECT_FALSE(parse(R"({"rollback": {"after": 0}})"));
  EXPECT_FALSE(parse(R"({"tol": -1})"));
}

TEST(GateTest, HashChangesWithToleranceFloorAndPolicy) {
  const std::string standard = parse("{}")->sha256();
  EXPECT_NE(parse(R"({"tol": 0.002})")->sha256(), standard);
  EXPECT_NE(parse(R"({"floors": [{"min_tflops": 1}]})")->sha256(), standard);
  EXPECT_NE(parse(R"({"rollback": {"after": 2}})")->sha256(), standard);
}

TEST(GateTest, LeavesARelativeToleranceToTheElementwiseCheck) {
  Case c = test::small_case();
  c.tolerance.relative = 1e-5;
  EXPECT_FALSE(find(*Gate::of_case(c), "max_abs_error")->at_most);
  c.tolerance.relative = 0;
  EXPECT_DOUBLE_EQ(find(*Gate::of_case(c), "max_abs_error")->at_most.value_or(0), 1e-3);
}

}  // namespace
}  // namespace tunesmith::judge
