#include "tune/compare.h"

#include <gtest/gtest.h>

namespace tunesmith::tune {
namespace {

ResultComparison compare(const std::string& now, const std::string& base, double allowed = 5) {
  return compare_results(parse_json(now, "now")->get_object(), parse_json(base, "base")->get_object(),
                         allowed);
}

TEST(CompareTest, PassesWithinTheThresholdAndFailsBeyondIt) {
  EXPECT_FALSE(compare(R"({"latency_ms": 1.04})", R"({"latency_ms": 1})").regressed);
  EXPECT_TRUE(compare(R"({"latency_ms": 1.06})", R"({"latency_ms": 1})").regressed);
  EXPECT_FALSE(compare(R"({"latency_ms": 0.5})", R"({"latency_ms": 1})").regressed);
}

TEST(CompareTest, JudgesEveryShapeByItself) {
  const char* base = R"({"shapes": [{"shape": "a", "latency_ms": 1}, {"shape": "b", "latency_ms": 1}]})";
  const auto out =
      compare(R"({"shapes": [{"shape": "a", "latency_ms": 0.5}, {"shape": "b", "latency_ms": 1.2}]})", base);
  EXPECT_TRUE(out.comparable);
  EXPECT_TRUE(out.regressed);
  EXPECT_NE(out.message.find("shape b") == std::string::npos ? out.message.find(" b:") : 0, std::string::npos)
      << out.message;
}

TEST(CompareTest, FailsWhenAShapeIsMissingOrHasNoTime) {
  const char* base = R"({"shapes": [{"shape": "a", "latency_ms": 1}, {"shape": "b", "latency_ms": 1}]})";
  EXPECT_FALSE(compare(R"({"shapes": [{"shape": "a", "latency_ms": 1}]})", base).comparable);
  EXPECT_FALSE(
      compare(R"({"shapes": [{"shape": "a", "latency_ms": 1}, {"shape": "b", "latency_ms": 0}]})", base)
          .comparable);
  EXPECT_FALSE(compare(R"({"latency_ms": 1})", R"({"latency_ms": "1"})").comparable);
}

TEST(CompareTest, AllowsForTheSpreadOfBothSides) {
  EXPECT_FALSE(
      compare(R"({"latency_ms": 1.08, "spread_percent": 2})", R"({"latency_ms": 1, "spread_percent": 2})")
          .regressed);
  EXPECT_TRUE(
      compare(R"({"latency_ms": 1.10, "spread_percent": 2})", R"({"latency_ms": 1, "spread_percent": 2})")
          .regressed);
}

TEST(CompareTest, PrefersThePairedSpeedupOnTheSameMachine) {
  const char* now = R"({"machine": "m", "baseline": "b", "speedup": 1.9, "latency_ms": 3})";
  const char* base = R"({"machine": "m", "baseline": "b", "speedup": 1.9, "latency_ms": 1})";
  EXPECT_EQ(compare(now, base).figure, "speedup");
  EXPECT_FALSE(compare(now, base).regressed);
  EXPECT_EQ(compare(now, R"({"machine": "n", "baseline": "b", "speedup": 1.9, "latency_ms": 1})").figure,
            "latency_ms");
}

TEST(CompareTest, ComparesOnlyTheSameCase) {
  EXPECT_FALSE(compare(R"({"case": "a", "latency_ms": 1})", R"({"case": "b", "latency_ms": 1})").comparable);
}

}  // namespace
}  // namespace tunesmith::tune
