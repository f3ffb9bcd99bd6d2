#include "tune/loop.h"

#include <gtest/gtest.h>

#include <set>

#include "base/file.h"
#include "support/fake_bench.h"

namespace tunesmith::tune {
namespace {

class HandClock : public Clock {
 public:
  [[nodiscard]] std::int64_t now_ns() const override { return seconds * 1'000'000'000; }
  std::int64_t seconds = 0;
};

/// Walks the space in order and remembers what it was told.
class OrderedStrategy : public search::Strategy {
 public:
  explicit OrderedStrategy(const space::Space& space) : m_space(space) {}
  std::vector<space::Config> ask(std::size_t k) override {
    std::vector<space::Config> out;
    while (out.size() < k && m_next < m_space.count()) out.push_back(m_space.at(m_next++));
    return out;
  }
  void tell(const search::Outcome& outcome) override { told.push_back(outcome); }
  std::vector<search::Outcome> told;

 private:
  const space::Space& m_space;
  std::uint64_t m_next = 0;
};

class LoopTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = TempDir::make();
    ASSERT_TRUE(made);
    m_temp.emplace(std::move(*made));
    folder = m_temp->path() + "/run";
  }
  RunHeader header() const {
    RunHeader h;
    h.case_sha256 = c.text_sha256;
    h.gate_sha256 = gate.sha256();
    h.objective_sha256 = objective.sha256();
    h.batch = 4;
    h.strategy = "ordered";
    return h;
  }
  Result<Journal> open() {
    return exists(folder) ? Journal::resume(folder) : Journal::create(folder, header());
  }
  Result<Summary> run(test::FakeBench& bench) {
    auto journal = open();
    if (!journal) return tl::unexpected<Error>(journal.error());
    if (!boot.empty()) journal->set_boot(boot);
    OrderedStrategy strategy(c.space);
    Loop loop(c, bench, strategy, *journal, gate, objective, options, clock);
    const auto summary = loop.run();
    told = strategy.told;
    trials = journal->trials();
    events = journal->events();
    return summary;
  }

  std::optional<TempDir> m_temp;
  std::string folder, boot;
  Case c = test::small_case(1, 8);
  judge::Gate gate = judge::Gate::standard(1e-3);
  judge::Objective objective;
  LoopOptions options;
  HandClock clock;
  std::vector<search::Outcome> told;
  std::vector<Trial> trials;
  std::vector<std::pair<std::string, json::object>> events;
};

TEST_F(LoopTest, FindsTheBestOfTheSpaceAndConfirmsIt) {
  test::FakeBench bench(c);
  const auto summary = run(bench);
  ASSERT_TRUE(summary) << summary.error().line();
  EXPECT_EQ(summary->end, Summary::End::exhausted);
  ASSERT_TRUE(summary->winner);
  ASSERT_TRUE(summary->confirmation);
  EXPECT_TRUE(summary->confirmation->confirmed);
  for (const Trial& t : trials) {
    if (t.decision.valid) {
      EXPECT_LE(summary->winner->evidence.log_ratio_to_baseline, t.evidence.log_ratio_to_baseline + 0.011);
    }
  }
  EXPECT_EQ(trials.size(), 64U);
  EXPECT_EQ(told.size(), 64U);
}

TEST_F(LoopTest, NeverBuildsOrChargesATwinAndTellsItsOutcome) {
  test::FakeBench bench(c);
  const auto summary = run(bench);
  ASSERT_TRUE(summary) << summary.error().line();
  // Every second value of B is a twin, and the first configuration is the baseline's own.
  EXPECT_EQ(summary->duplicates, 33U);
  EXPECT_EQ(summary->evaluations, 31U);
  EXPECT_EQ(bench.built_count, 31);
  EXPECT_EQ(trials[3].decision.reason, Reason::duplicate);
  EXPECT_EQ(trials[3].decision.detail, "the same kernel as trial 3");
  EXPECT_EQ(told[3].valid, told[2].valid);
  EXPECT_EQ(told[3].objective, told[2].objective);
  EXPECT_TRUE(told[0].valid);
  EXPECT_EQ(told[0].objective, 0);
}

TEST_F(LoopTest, SpendsExactlyItsBudgetOfEvaluations) {
  options.evaluations = 7;
  test::FakeBench bench(c);
  const auto summary = run(bench);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->evaluations, 7U);
}

TEST_F(LoopTest, StopsAfterSomeRoundsWithoutAnImprovement) {
  options.no_improve_rounds = 3;
  options.batch = 2;
  test::FakeBench bench(c);
  const auto summary = run(bench);
  ASSERT_TRUE(summary) << summary.error().line();
  EXPECT_EQ(summary->end, Summary::End::no_improvement);
  EXPECT_EQ(summary->end_detail, "3 rounds without one");
  ASSERT_LT(trials.size(), 64U);
  // Exactly three batches of two came behind the last one that was kept.
  std::int64_t last_kept = 0;
  for (const Trial& t : trials) {
    if (t.decision.keep) last_kept = t.batch;
  }
  EXPECT_EQ(trials.back().batch, last_kept + 3);
  const std::size_t stopped_at = trials.size();
  // Resumed under the same rule it has still had enough; with a wider one it goes on.
  test::FakeBench again(c);
  EXPECT_EQ(run(again)->end, Summary::End::no_improvement);
  EXPECT_EQ(trials.size(), stopped_at);
  options.no_improve_rounds = 0;
  EXPECT_EQ(run(again)->end, Summary::End::exhausted);
  EXPECT_EQ(trials.size(), 64U);
}

TEST_F(LoopTest, StopsWhenTheIncumbentIsNearTheSpeedOfLight) {
  // The incumbent's share of the speed of light is floor / latency; the fake's latency is its ratio in ms.
  options.enough_of_light = 0.5;
  options.batch = 1;
  test::FakeBench unknown(c);
  const auto without = run(unknown);
  ASSERT_TRUE(without);
  EXPECT_EQ(without->end, Summary::End::exhausted) << "no floor, no such stop";
  const std::size_t all = trials.size();
  folder += "2";
  test::FakeBench bench(c);
  bench.floor_ms = 0.45;
  const auto summary = run(bench);
  ASSERT_TRUE(summary) << summary.error().line();
  EXPECT_EQ(summary->end, Summary::End::speed_of_light);
  EXPECT_LT(trials.size(), all);
  EXPECT_NE(summary->end_detail.find("% of the speed of light"), std::string::npos) << summary->end_detail;
  const Trial* incumbent = nullptr;
  for (const Trial& t : trials) {
    if (t.decision.keep) incumbent = &t;
  }
  ASSERT_NE(incumbent, nullptr);
  EXPECT_EQ(incumbent->batch, trials.back().batch);  // it ended with the batch that reached it
  EXPECT_GE(0.45 / incumbent->evidence.shapes[0].timing.latency_ms, 0.5);
}

TEST_F(LoopTest, GoesOnWhereItStoppedWhenTheBudgetGrows) {
  test::FakeBench whole(c);
  ASSERT_TRUE(run(whole));
  const auto undisturbed = trials;
  folder += "2";
  for (const std::uint64_t evaluations : {3, 10, 0}) {
    options.evaluations = evaluations;
    test::FakeBench bench(c);
    ASSERT_TRUE(run(bench));
  }
  ASSERT_EQ(trials.size(), undisturbed.size());
  for (std::size_t i = 0; i < trials.size(); ++i) {
    EXPECT_EQ(trials[i].config, undisturbed[i].config);
    EXPECT_EQ(trials[i].decision.keep, undisturbed[i].decision.keep);
    EXPECT_LE(trials[i].starts.size(), 1U);
  }
}

TEST_F(LoopTest, CountsTheMinutesOfEarlierSessions) {
  options.minutes = 1;
  test::FakeBench bench(c);
  bench.on_measure = [&](const Candidate&) { clock.seconds += 25; };
  auto summary = run(bench);
  ASSERT_TRUE(summary);
  EXPECT_EQ(bench.measured, 3);
  EXPECT_GE(summary->seconds, 75);
  summary = run(bench);
  ASSERT_TRUE(summary);
  EXPECT_EQ(bench.measured, 3);
}

TEST_F(LoopTest, StopsBetweenCandidatesAndKeepsEverything) {
  std::atomic<bool> stop{false};
  options.stop = &stop;
  test::FakeBench bench(c);
  bench.on_measure = [&](const Candidate&) { stop = bench.measured >= 3; };
  const auto summary = run(bench);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->end, Summary::End::interrupted);
  EXPECT_EQ(bench.measured, 3);
  EXPECT_FALSE(summary->confirmation);
  stop = false;
  bench.on_measure = nullptr;
  ASSERT_TRUE(run(bench));
  for (const Trial& t : trials) EXPECT_LE(t.starts.size(), 1U);
}

TEST_F(LoopTest, RetriesWhatWasOurOwnFaultAndNeverChargesIt) {
  test::FakeBench bench(c);
  bench.infra_failures = 2;
  auto summary = run(bench);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->evaluations, 31U);
  folder += "2";
  test::FakeBench worse(c);
  worse.infra_failures = 3;
  summary = run(worse);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->evaluations, 30U);
}

TEST_F(LoopTest, GivesUpWhenTheBenchFailsOnEveryCandidate) {
  test::FakeBench bench(c);
  bench.infra_failures = 1'000'000;
  const auto summary = run(bench);
  ASSERT_FALSE(summary);
  EXPECT_EQ(summary.error().code, ErrorCode::infra);
}

TEST_F(LoopTest, SaysSoWhenNothingPassed) {
  test::FakeBench bench(c);
  bench.fail_everything = true;
  const auto summary = run(bench);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->end, Summary::End::nothing_passed);
  EXPECT_FALSE(summary->winner);
  EXPECT_EQ(summary->failures, summary->evaluations);
}

TEST_F(LoopTest, FallsBackToTheNextBestWhenAConfirmationDoesNotHold) {
  test::FakeBench bench(c);
  auto summary = run(bench);
  ASSERT_TRUE(summary && summary->winner);
  ASSERT_GE(summary->kept, 2U);
  const json::object best = summary->winner->config;
  folder += "2";
  bench.confirmation_fails = [&](const Candidate& candidate) {
    return json::value(c.space.to_json(candidate.config)) == json::value(best);
  };
  summary = run(bench);
  ASSERT_TRUE(summary && summary->winner);
  EXPECT_NE(json::value(summary->winner->config), json::value(best));
  folder += "3";
  bench.confirmation_fails = [](const Candidate&) { return true; };
  summary = run(bench);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->end, Summary::End::nothing_passed);
  EXPECT_FALSE(summary->winner);
}

TEST_F(LoopTest, RefusesToResumeUnderAnotherGateObjectiveCaseOrCompiler) {
  options.evaluations = 3;
  test::FakeBench bench(c);
  ASSERT_TRUE(run(bench));
  const auto refused = [&](const char* word) {
    const auto summary = run(bench);
    ASSERT_FALSE(summary);
    EXPECT_EQ(summary.error().code, ErrorCode::conflict);
    EXPECT_NE(summary.error().line().find(word), std::string::npos) << summary.error().line();
  };
  gate.rollback.after = 5;
  refused("gate");
  gate = judge::Gate::standard(1e-3);
  objective = *judge::Objective::from_json(*Node::parse(R"({"formula": "latency_ms"})", "o"));
  refused("objective");
  objective = judge::Objective();
  c.text_sha256 = "other";
  refused("case");
  c.text_sha256 = test::small_case().text_sha256;
  options.evaluations = 6;
  bench.toolchain = "fake 2.0";
  refused("compiler");
}

TEST_F(LoopTest, HaltsByNameWhenTheGateChangesInMidRun) {
  const std::string file = m_temp->path() + "/gate.json";
  ASSERT_TRUE(write_file_atomic(file, R"({"tol": 0.001})"));
  options.gate_file = file;
  gate = *judge::Gate::of_case(c, file);
  test::FakeBench bench(c);
  bench.on_measure = [&](const Candidate&) { ASSERT_TRUE(write_file_atomic(file, R"({"tol": 1})")); };
  const auto summary = run(bench);
  ASSERT_TRUE(summary) << summary.error().line();
  EXPECT_EQ(summary->end, Summary::End::halted);
  EXPECT_NE(summary->end_detail.find("gate"), std::string::npos);
  EXPECT_LE(bench.measured, 4);
}

TEST_F(LoopTest, SkipsACandidateThatTookTheMachineDownTwice) {
  options.evaluations = 31;
  std::string killer;
  for (int death = 0; death < 3; ++death) {
    boot = "boot-" + std::to_string(death);
    auto journal = open();
    ASSERT_TRUE(journal) << journal.error().line();
    journal->set_boot(boot);
    OrderedStrategy strategy(c.space);
    test::FakeBench bench(c);
    struct Death {};
    bench.on_measure = [&](const Candidate& candidate) {
      const std::string text = c.space.text(candidate.config);
      if (killer.empty()) killer = text;
      if (text == killer && death < 2) throw Death{};
    };
    Loop loop(c, bench, strategy, *journal, gate, objective, options, clock);
    if (death < 2) {
      EXPECT_THROW((void)loop.run(), Death);
    } else {
      ASSERT_TRUE(loop.run());
      trials = journal->trials();
    }
  }
  int skipped = 0;
  for (const Trial& t : trials) {
    if (t.decision.reason != Reason::crashed) continue;
    ++skipped;
    EXPECT_NE(t.decision.detail.find("killed the machine"), std::string::npos);
    EXPECT_EQ(t.starts.size(), 2U);
  }
  EXPECT_EQ(skipped, 1);
}

TEST_F(LoopTest, CountsRollbacksByThePolicy) {
  test::FakeBench bench(c);
  gate.rollback.after = 1;
  auto summary = run(bench);
  ASSERT_TRUE(summary);
  const std::uint64_t each = summary->rollbacks;
  EXPECT_GT(each, 0U);
  folder += "2";
  gate.rollback.after = 3;
  summary = run(bench);
  EXPECT_LT(summary->rollbacks, each);
  folder += "3";
  gate.rollback.on = judge::RollbackPolicy::On::ask;
  summary = run(bench);
  EXPECT_EQ(summary->rollbacks, 0U);
}

TEST_F(LoopTest, TellsTheFormulaWhereTheEngineerGaveOne) {
  objective = *judge::Objective::from_json(*Node::parse(R"({"formula": "2 * latency_ms"})", "o"));
  test::FakeBench bench(c);
  ASSERT_TRUE(run(bench));
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (!told[i].valid || trials[i].decision.reason == Reason::duplicate) continue;
    EXPECT_NEAR(told[i].objective, 2 * std::exp(trials[i].evidence.log_ratio_to_baseline), 1e-12);
  }
}

}  // namespace
}  // namespace tunesmith::tune
