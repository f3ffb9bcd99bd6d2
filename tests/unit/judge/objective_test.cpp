#include "judge/objective.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "judge/judge.h"
#include "support/judge_samples.h"

namespace tunesmith::judge {
namespace {

constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();
constexpr double k_infinity = std::numeric_limits<double>::infinity();

Figures article() { return {1.82, 412.5, 0.00042, {}, {}, 0, 0}; }

Result<Objective> parse(const std::string& text) {
  return Objective::from_json(*Node::parse(text, "objective.json"));
}

TEST(ObjectiveTest, ScoresTheArticlesExampleAsTheArticleDoes) {
  EXPECT_DOUBLE_EQ(Objective().score(article()), 1.82 - 0.01 * 412.5);
  EXPECT_NEAR(Objective().score(article()), -2.305, 1e-12);
}

TEST(ObjectiveTest, PunishesAnErrorAboveTheToleranceInProportion) {
  Figures figures = article();
  figures.max_abs_error = 0.003;
  EXPECT_NEAR(Objective().score(figures), -2.305 + 2000, 1e-9);
}

TEST(ObjectiveTest, LeavesAnErrorExactlyAtTheToleranceUnpunished) {
  Figures figures = article();
  figures.max_abs_error = 1e-3;
  EXPECT_NEAR(Objective().score(figures), -2.305, 1e-12);
}

TEST(ObjectiveTest, AddsFiftyForEveryFailedCompilation) {
  Figures figures = article();
  figures.compile_fail = 2;
  EXPECT_NEAR(Objective().score(figures), -2.305 + 100, 1e-12);
}

TEST(ObjectiveTest, ScoresAFailedBuildWithoutALatencyWorst) {
  Figures figures;
  figures.compile_fail = 1;
  EXPECT_EQ(Objective().score(figures), k_infinity);
  EXPECT_EQ(print_json_compact(score_to_json(Objective().score(figures))), R"({"score":null,"worst":true})");
}

TEST(ObjectiveTest, NeverLetsANanOrAnImpossibleTimeWin) {
  for (const double bad : {k_nan, k_infinity, -k_infinity, 0.0, -1.0}) {
    Figures figures = article();
    figures.latency_ms = bad;
    EXPECT_EQ(Objective().score(figures), k_infinity) << bad;
  }
  Figures figures = article();
  figures.max_abs_error = k_nan;
  EXPECT_EQ(Objective().score(figures), k_infinity);
  figures = article();
  figures.tflops = k_infinity;
  EXPECT_EQ(Objective().score(figures), k_infinity);
}

TEST(ObjectiveTest, TakesItsConstantsFromSettings) {
  const auto objective =
      parse(R"({"tflops_weight": 0.5, "compile_fail_weight": 7, "error_weight": 10, "tol": 0.0002})");
  ASSERT_TRUE(objective) << objective.error().line();
  Figures figures = article();
  figures.compile_fail = 1;
  EXPECT_NEAR(objective->score(figures), 1.82 - 206.25 + 7 + 10 * (0.00042 - 0.0002) / 0.0002, 1e-9);
}

TEST(ObjectiveTest, EvaluatesAFormulaOverEveryFigure) {
  const auto objective =
      parse(R"({"formula": "latency_ms + peak_memory_bytes / 2**20 + rollbacks + 50 * compile_fail"})");
  ASSERT_TRUE(objective) << objective.error().line();
  Figures figures = article();
  figures.peak_memory_bytes = 3 << 20;
  figures.rollbacks = 2;
  EXPECT_NEAR(objective->score(figures), 6.82, 1e-12);
  EXPECT_TRUE(objective->has_formula());
}

TEST(ObjectiveTest, ScoresAFormulaOverAnAbsentFigureWorstAndNeverAsZero) {
  const auto objective = parse(R"({"formula": "latency_ms + peak_memory_bytes"})");
  ASSERT_TRUE(objective) << objective.error().line();
  EXPECT_EQ(objective->score(article()), k_infinity);
}

TEST(ObjectiveTest, ScoresADivisionByZeroWorst) {
  const auto objective = parse(R"({"formula": "1 / rollbacks"})");
  ASSERT_TRUE(objective) << objective.error().line();
  EXPECT_EQ(objective->score(article()), k_infinity);
}

TEST(ObjectiveTest, RefusesAnUnknownKeyByName) {
  const auto objective = parse(R"({"tflop_weight": 1})");
  ASSERT_FALSE(objective);
  EXPECT_NE(objective.error().line().find("tflops_weight"), std::string::npos) << objective.error().line();
}

TEST(ObjectiveTest, RefusesAnUnknownNameInAFormulaWithItsPlace) {
  const auto objective = parse("{\n  \"formula\": \"latency + 1\"\n}");
  ASSERT_FALSE(objective);
  EXPECT_EQ(objective.error().place.line, 2);
  EXPECT_NE(objective.error().line().find("latency"), std::string::npos);
}

TEST(ObjectiveTest, RefusesAWeightBelowZeroAndAWeightBesideAFormula) {
  EXPECT_FALSE(parse(R"({"error_weight": -1})"));
  EXPECT_FALSE(parse(R"({"formula": "latency_ms", "error_weight": 1})"));
  EXPECT_FALSE(parse(R"({"tol": "0.001"})"));
}

TEST(ObjectiveTest, HashesChangeWithEveryConstant) {
  const std::string standard = Objective().sha256();
  EXPECT_NE(parse(R"({"tflops_weight": 0.02})")->sha256(), standard);
  EXPECT_NE(parse(R"({"tol": 0.002})")->sha256(), standard);
  EXPECT_NE(parse(R"({"formula": "latency_ms"})")->sha256(), standard);
  EXPECT_EQ(parse("{}")->sha256(), standard);
}

TEST(ObjectiveTest, TakesTheCasesToleranceWhenTheCaseSaysNothingElse) {
  Case c = test::small_case();
  c.tolerance.absolute = 0.25;
  EXPECT_DOUBLE_EQ(Objective::of_case(c)->tol(), 0.25);
}

TEST(FiguresTest, ReadsOnlyNumbersFromAResult) {
  const auto value = parse_json(R"({"latency_ms": "fast", "tflops": 3, "max_abs_error": true})", "r.json");
  const Figures figures = figures_of(value->get_object());
  EXPECT_FALSE(figures.latency_ms);
  EXPECT_FALSE(figures.max_abs_error);
  EXPECT_DOUBLE_EQ(figures.tflops.value_or(0), 3);
}

}  // namespace
}  // namespace tunesmith::judge
