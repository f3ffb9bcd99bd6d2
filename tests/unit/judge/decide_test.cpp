#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "judge/judge.h"
#include "support/judge_samples.h"

namespace tunesmith::judge {
namespace {

constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();

class DecideTest : public testing::Test {
 protected:
  Decision run(const Evidence& e) { return decide(e, c, gate, objective, standing); }
  Case c = test::small_case(2);
  Gate gate = Gate::standard(1e-3);
  Objective objective;
  Standing standing{2.0, 2.0, 0};
};

TEST_F(DecideTest, KeepsWhatIsCorrectAndFaster) {
  const Decision d = run(test::good_evidence(c));
  EXPECT_TRUE(d.keep);
  EXPECT_TRUE(d.valid);
  EXPECT_EQ(d.verdict, Verdict::faster);
  EXPECT_EQ(d.reason, Reason::none);
  const double flops = 2.0 * std::sqrt(8.0 * 16.0) * 2048 * 2048;
  EXPECT_NEAR(d.objective, 1.6 - 0.01 * tflops_of(flops, 1.6), 1e-12);
}

TEST_F(DecideTest, NeverKeepsSlowerSameOrAmbiguousYetLetsTheStrategyLearn) {
  const std::pair<Comparison, Reason> rows[] = {{Comparison::slower, Reason::not_faster},
                                                {Comparison::same, Reason::no_effect},
                                                {Comparison::ambiguous, Reason::ambiguous}};
  for (const auto& [comparison, reason] : rows) {
    const Decision d = run(test::good_evidence(c, 1.0, comparison));
    EXPECT_FALSE(d.keep);
    EXPECT_TRUE(d.valid);
    EXPECT_EQ(d.reason, reason);
    EXPECT_FALSE(d.detail.empty());
  }
}

TEST_F(DecideTest, LetsOneSlowerShapeVetoAFasterWhole) {
  Evidence e = test::good_evidence(c);
  e.shapes[1].timing.comparison = Comparison::slower;
  const Decision d = run(e);
  EXPECT_FALSE(d.keep);
  EXPECT_EQ(d.reason, Reason::not_faster);
  EXPECT_NE(d.detail.find(c.shapes[1].name), std::string::npos);
}

TEST_F(DecideTest, CallsAHopelessCandidateSlowAlthoughItWasNotTimedOnEveryShape) {
  Evidence e = test::good_evidence(c, 4.0, Comparison::slower);
  e.shapes[0].timing.comparison = Comparison::slower;
  e.shapes[1].timing = {};
  Decision d = run(e);
  EXPECT_FALSE(d.keep);
  EXPECT_TRUE(d.valid);
  EXPECT_EQ(d.verdict, Verdict::slower);
  EXPECT_EQ(d.reason, Reason::not_faster);
  // Without a slower shape to explain it, a missing time is a hole.
  e.shapes[0].timing.comparison = Comparison::faster;
  d = run(e);
  EXPECT_EQ(d.reason, Reason::too_few_samples);
  e = test::good_evidence(c);
  e.shapes[0].timing.comparison = Comparison::slower;
  e.shapes[1].timing = {};
  EXPECT_EQ(run(e).reason, Reason::too_few_samples);
}

TEST_F(DecideTest, GivesABuildFailureItsReasonAndTheWorstObjective) {
  Evidence e;
  e.build.outcome = BuildEvidence::Outcome::failed;
  e.build.detail = "gemm.cpp:3: expected ;";
  const Decision d = run(e);
  EXPECT_FALSE(d.valid);
  EXPECT_EQ(d.reason, Reason::build_failed);
  EXPECT_EQ(d.detail, "gemm.cpp:3: expected ;");
  EXPECT_TRUE(std::isinf(d.objective));
}

TEST_F(DecideTest, TakesTheBenchsRejectionAsItIs) {
  Evidence e = test::good_evidence(c);
  e.rejection = Reason::stale_output;
  e.rejection_detail = "o[3] kept its poison";
  const Decision d = run(e);
  EXPECT_FALSE(d.keep);
  EXPECT_FALSE(d.valid);
  EXPECT_EQ(d.reason, Reason::stale_output);
  EXPECT_EQ(d.detail, "o[3] kept its poison");
}

TEST_F(DecideTest, KeepsInfrastructureApartFromMerit) {
  Evidence e = test::good_evidence(c);
  e.infra = true;
  EXPECT_EQ(run(e).reason, Reason::infra);
}

TEST_F(DecideTest, NeverPassesMissingEvidence) {
  Evidence e = test::good_evidence(c);
  e.shapes.pop_back();
  EXPECT_EQ(run(e).reason, Reason::missing_evidence);
  e = test::good_evidence(c);
  e.shapes[0].check.executed = 2;
  EXPECT_EQ(run(e).reason, Reason::missing_evidence);
  e = test::good_evidence(c);
  e.shapes[0].check.planned = e.shapes[0].check.executed = 0;
  EXPECT_EQ(run(e).reason, Reason::missing_evidence);
  e = test::good_evidence(c);
  std::swap(e.shapes[0], e.shapes[1]);
  EXPECT_EQ(run(e).reason, Reason::missing_evidence);
  e = test::good_evidence(c);
  e.shapes[0].timing.pairs = 0;
  EXPECT_EQ(run(e).reason, Reason::too_few_samples);
  EXPECT_FALSE(run(Evidence{}).keep);
}

TEST_F(DecideTest, RefusesTimesThatCannotBe) {
  for (const double bad : {0.0, -1.0, k_nan, std::numeric_limits<double>::infinity()}) {
    Evidence e = test::good_evidence(c);
    e.shapes[1].timing.latency_ms = bad;
    const Decision d = run(e);
    EXPECT_EQ(d.verdict, Verdict::impossible) << bad;
    EXPECT_EQ(d.reason, Reason::impossible_time) << bad;
  }
  Evidence e = test::good_evidence(c);
  e.shapes[0].timing.floor_ms = 0.81;
  EXPECT_EQ(run(e).reason, Reason::impossible_time);
  e = test::good_evidence(c);
  e.log_ratio_to_baseline = k_nan;
  EXPECT_FALSE(run(e).valid);
}

TEST_F(DecideTest, NeverPassesANanErrorEvenWhenTheCheckSaysSo) {
  for (const double bad : {k_nan, 1.1e-3}) {
    Evidence e = test::good_evidence(c);
    e.shapes[1].check.max_abs_error = bad;
    const Decision d = run(e);
    EXPECT_FALSE(d.keep);
    EXPECT_FALSE(d.valid);
    EXPECT_EQ(d.reason, Reason::wrong_result);
  }
}

TEST_F(DecideTest, AppliesAFloorPerShape) {
  const double tflops = tflops_of(2.0 * 8 * 2048 * 2048, 0.8);
  gate.floors = {{"", c.shapes[0].name, "", tflops * 1.01}};
  const Decision d = run(test::good_evidence(c));
  EXPECT_FALSE(d.keep);
  EXPECT_TRUE(d.valid);
  EXPECT_EQ(d.reason, Reason::below_floor);
  gate.floors = {{"", c.shapes[0].name, "", tflops * 0.99}};
  EXPECT_TRUE(run(test::good_evidence(c)).keep);
  gate.floors = {{"Other CPU", "", "", 1e9}};
  EXPECT_TRUE(run(test::good_evidence(c)).keep);
  gate.floors = {{"", "", "another baseline", 1e9}};
  EXPECT_TRUE(run(test::good_evidence(c)).keep);
}

TEST_F(DecideTest, FailsARequiredFigureWithoutEvidence) {
  gate = *Gate::from_json(*Node::parse(R"({"performance": {"occupancy": "required"}})", "g"));
  EXPECT_EQ(run(test::good_evidence(c)).reason, Reason::missing_evidence);
  gate = *Gate::from_json(*Node::parse(R"({"performance": {"occupancy": "not_measurable_here"}})", "g"));
  EXPECT_TRUE(run(test::good_evidence(c)).keep);
  gate = *Gate::from_json(*Node::parse(R"({"performance": {"peak_memory_bytes": {"at_most": 1000}}})", "g"));
  EXPECT_EQ(run(test::good_evidence(c)).reason, Reason::below_floor);
}

TEST_F(DecideTest, RanksASelfReportedResultAndKeepsItOnlyWhenTrusted) {
  Evidence e = test::good_evidence(c);
  e.self_reported = true;
  Decision d = run(e);
  EXPECT_FALSE(d.keep);
  EXPECT_TRUE(d.valid);
  EXPECT_NE(d.verdict, Verdict::faster);
  EXPECT_EQ(d.reason, Reason::self_reported);
  standing.trust_self_reported = true;
  EXPECT_TRUE(run(e).keep);
}

TEST_F(DecideTest, LetsAFormulaPreferLessMemoryAtTheSameTime) {
  objective =
      *Objective::from_json(*Node::parse(R"({"formula": "latency_ms + peak_memory_bytes / 2**20"})", "o"));
  standing.incumbent_objective = 2.0 + 3.0;
  const Decision d = run(test::good_evidence(c, 1.0, Comparison::same));
  EXPECT_TRUE(d.keep);
  EXPECT_NEAR(d.objective, 3.0, 1e-12);
}

TEST_F(DecideTest, NeverLetsAFormulaWinByNoise) {
  objective = *Objective::from_json(*Node::parse(R"({"formula": "latency_ms"})", "o"));
  standing.incumbent_objective = 2.0;
  // 1 % better on the median, and the interval reaches over 1.
  Evidence e = test::good_evidence(c, 0.985, Comparison::ambiguous);
  for (ShapeEvidence& s : e.shapes) s.timing.log_ratio_high = 0.01;
  EXPECT_FALSE(run(e).keep);
  EXPECT_EQ(run(e).reason, Reason::ambiguous);
  // Faster, but not by the formula's own measure.
  objective = *Objective::from_json(*Node::parse(R"({"formula": "peak_memory_bytes"})", "o"));
  standing.incumbent_objective = 1 << 20;
  EXPECT_FALSE(run(test::good_evidence(c)).keep);
}

}  // namespace
}  // namespace tunesmith::judge
