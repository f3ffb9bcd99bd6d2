#include "app/tune_report.h"

#include <gtest/gtest.h>

#include "support/judge_samples.h"

namespace tunesmith::app {
namespace {

class TuneReportTest : public testing::Test {
 protected:
  void SetUp() override {
    header.run = "small-1";
    header.case_file = "small.json";
    header.case_name = "small";
    header.strategy = "auto";
    header.seed = 7;
    header.batch = 4;
    header.extra["baseline_config"] = json::object{{"A", 1}, {"B", 0}};
    summary.opening.baseline = test::good_evidence(c, 1.0, Comparison::same);
    summary.evaluations = 12;
  }
  void win(double ratio, double confirmed_ratio) {
    tune::Trial trial;
    trial.id = 5;
    trial.config = {{"A", 4}, {"B", 0}};
    trial.evidence = test::good_evidence(c, ratio);
    summary.winner = trial;
    summary.kept = 1;
    if (confirmed_ratio <= 0) return;
    summary.confirmation = test::good_evidence(c, confirmed_ratio);
    for (ShapeEvidence& shape : summary.confirmation->shapes) {
      shape.timing.log_ratio_low = std::log(confirmed_ratio) - 0.1;
      shape.timing.log_ratio_high = std::log(confirmed_ratio) + 0.1;
      shape.timing.confidence = 0.99;
    }
    summary.confirmation_decision.valid = true;
  }
  RunEnd end() const { return RunEnd{&c, &header, "runs/small-1", &summary, {}, "runs/small-1/result.json"}; }
  std::string table() const { return closing_table(end(), false, 100, false); }

  Case c = test::small_case(1);
  tune::RunHeader header;
  tune::Summary summary;
};

TEST_F(TuneReportTest, TheConfirmationsFiguresCountAndNotTheLuckyTrials) {
  win(0.4, 0.5);
  const Gain gain = gain_of(summary);
  EXPECT_TRUE(gain.confirmed);
  EXPECT_NEAR(gain.speedup, 2.0, 1e-9);
  EXPECT_NEAR(gain.low, 2.0 * std::exp(-0.1), 1e-9);
  EXPECT_NEAR(gain.high, 2.0 * std::exp(0.1), 1e-9);
  const json::object out = closing_json(end());
  EXPECT_EQ(out.at("improved"), true);
  EXPECT_EQ(out.at("winner").at("trial"), 5);
  EXPECT_NEAR(out.at("speedup").as_double(), 2.0, 1e-9);
  EXPECT_NE(table().find("2.00x"), std::string::npos) << table();
  EXPECT_NE(table().find("A=4"), std::string::npos) << table();
  EXPECT_EQ(table().find("B=0"), std::string::npos) << "only what differs from the baseline";
}

TEST_F(TuneReportTest, AnUnconfirmedWinnerIsSaidToBeOne) {
  win(0.5, 0);
  EXPECT_FALSE(gain_of(summary).confirmed);
  EXPECT_NE(table().find("not confirmed yet"), std::string::npos) << table();
}

TEST_F(TuneReportTest, AWinnerThatItsConfirmationRefusedIsNone) {
  win(0.5, 0.9);
  summary.confirmation_decision.valid = false;
  summary.confirmation_decision.detail = "wrong on a held-out shape";
  EXPECT_FALSE(passed(summary));
  EXPECT_NE(table().find("wrong on a held-out shape"), std::string::npos) << table();
  const json::object out = closing_json(end());
  EXPECT_TRUE(out.at("winner").is_null());
  EXPECT_EQ(out.at("speedup"), 1.0);
}

TEST_F(TuneReportTest, NoWinnerMeansThatTheBaselineStandsAndNothingIsClaimed) {
  EXPECT_FALSE(passed(summary));
  EXPECT_NE(table().find("the baseline stands"), std::string::npos) << table();
  EXPECT_EQ(table().find("apply "), std::string::npos);
  EXPECT_EQ(closing_json(end()).at("improved"), false);
}

TEST_F(TuneReportTest, ASelfReportedWinnerCarriesItsWarning) {
  win(0.5, 0.5);
  summary.winner->evidence.self_reported = true;
  EXPECT_NE(table().find("SELF-REPORTED"), std::string::npos) << table();
}

TEST_F(TuneReportTest, TheReproduceLineCountsEvaluationsAndNamesTheEngineersFiles) {
  header.extra["gate_file"] = "strict.json";
  header.extra["prior"] = "old.jsonl";
  win(0.5, 0.5);
  const json::object out = closing_json(end());
  EXPECT_EQ(
      out.at("reproduce"),
      "tunesmith tune small.json --strategy auto --seed 7 --batch 4 --evaluations 12 --gate strict.json "
      "--prior old.jsonl");
}

}  // namespace
}  // namespace tunesmith::app
