#include "app/recorder.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/file.h"
#include "base/text.h"
#include "support/fake_bench.h"

namespace tunesmith::app {
namespace {

class RecorderTest : public testing::Test {
 protected:
  RecordPlan plan(const std::string& name = "r.jsonl") {
    RecordPlan p;
    p.c = &c;
    p.part = c.space;
    p.out = m_folder.path() + "/" + name;
    p.stop = &stop;
    return p;
  }
  static Result<RecordEnd> record(const RecordPlan& p, bench::Bench& bench) {
    return record_space(p, bench, {});
  }

  TempDir m_folder = *TempDir::make();
  Case c = test::small_case(1, 8);
  std::atomic<bool> stop = false;
};

TEST_F(RecorderTest, EveryConfigurationIsRecordedWithItsFailuresAndReadsBack) {
  test::FakeBench bench(c);
  const auto end = record(plan(), bench);
  ASSERT_TRUE(end) << end.error().line();
  EXPECT_TRUE(end->complete);
  EXPECT_EQ(end->progress.done, 64U);
  const auto r = recording::read_recording(plan().out);
  ASSERT_TRUE(r) << r.error().line();
  EXPECT_EQ(r->entries.size(), 64U);
  EXPECT_TRUE(r->notes.empty());
  EXPECT_EQ(r->failures(), end->progress.failures);
  EXPECT_GT(r->failures(), 0U);
  for (const recording::Entry& entry : r->entries) {
    if (!entry.ok()) continue;
    // Always against the baseline, whatever was faster before: the fake's own figure, to the digits kept.
    EXPECT_NEAR(entry.time_ms, std::exp(bench.log_time({entry.config, {}})), 1e-4);
  }
}

TEST_F(RecorderTest, ASecondRunOfTheSameCommandMeasuresNothingTwice) {
  test::FakeBench first(c);
  int seen = 0;
  first.on_measure = [&](const Candidate&) { stop = ++seen == 20; };
  const auto stopped = record(plan(), first);
  ASSERT_TRUE(stopped) << stopped.error().line();
  EXPECT_FALSE(stopped->complete);
  const std::uint64_t before = stopped->progress.done;
  EXPECT_GT(before, 10U);
  stop = false;
  // Killed in the middle of a line.
  std::string text = *read_file(plan().out);
  ASSERT_TRUE(write_scratch(plan().out, text + R"({"config":{"A":1,"B)"));
  test::FakeBench second(c);
  const auto end = record(plan(), second);
  ASSERT_TRUE(end) << end.error().line();
  EXPECT_TRUE(end->complete);
  EXPECT_EQ(end->progress.before, before);
  EXPECT_EQ(second.built_count, static_cast<int>(64 - before));
  const auto r = recording::read_recording(plan().out);
  ASSERT_TRUE(r) << r.error().line();
  EXPECT_EQ(r->entries.size(), 64U);
  EXPECT_TRUE(r->notes.empty()) << r->notes.front();
  EXPECT_TRUE(read_file(plan().out)->starts_with(text));  // nothing that stood there was rewritten
}

TEST_F(RecorderTest, AnotherCaseCompilerOrPartIsNotMixedIn) {
  test::FakeBench bench(c);
  RecordPlan one = plan();
  one.limit = 3;
  ASSERT_TRUE(record(one, bench));
  test::FakeBench other(c);
  other.toolchain = "fake 2.0";
  const auto mixed = record(one, other);
  ASSERT_FALSE(mixed);
  EXPECT_NE(mixed.error().line().find("another compiler"), std::string::npos);
  RecordPlan part = plan();
  part.part = *part_of(c, R"({"A": [1, 2]})", "");
  EXPECT_FALSE(record(part, bench));
  c.text_sha256 = std::string(64, 'd');
  EXPECT_FALSE(record(one, bench));
}

TEST_F(RecorderTest, APackedRecordingIsMadeWhenItIsComplete) {
  test::FakeBench bench(c);
  RecordPlan p = plan("r.jsonl.gz");
  p.limit = 10;
  const auto end = record(p, bench);
  ASSERT_TRUE(end) << end.error().line();
  EXPECT_TRUE(exists(p.out));
  EXPECT_FALSE(exists(m_folder.path() + "/r.jsonl"));
  const auto r = recording::read_recording(p.out);
  ASSERT_TRUE(r) << r.error().line();
  EXPECT_EQ(r->entries.size(), 10U);
  EXPECT_FALSE(record(p, bench));  // never overwritten
}

TEST_F(RecorderTest, AFaultOfTheBenchIsTriedAgainAndNeverRecorded) {
  test::FakeBench bench(c);
  bench.infra_failures = 4;  // the first configuration takes three of them and is left out
  RecordPlan p = plan();
  p.limit = 12;
  const auto end = record(p, bench);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->left_out, 1U);
  EXPECT_FALSE(end->complete);
  const auto again = record(p, bench);
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->complete);
}

TEST_F(RecorderTest, APartIsChosenByValuesConstraintsAndAnExpression) {
  EXPECT_EQ(part_of(c, "", "")->count(), 64U);
  EXPECT_EQ(part_of(c, "", "A <= 4")->count(), 24U);
  EXPECT_EQ(part_of(c, R"({"A": [1, 4], "B": [0]})", "")->count(), 2U);
  EXPECT_EQ(part_of(c, R"({"parameters": {"A": [1, 4]}, "constraints": ["B < 3"]})", "B > 0")->count(), 4U);
  const auto value = part_of(c, R"({"A": [3]})", "");
  ASSERT_FALSE(value);
  EXPECT_NE(value.error().line().find("3 is no value of A"), std::string::npos);
  EXPECT_FALSE(part_of(c, R"({"AA": [1]})", ""));
  EXPECT_FALSE(part_of(c, "", "C > 1"));
  EXPECT_FALSE(part_of(c, "", "A > 1000"));
}

TEST(EntryFromTest, TimeAndRepeatsAreTheBaselinesTimesThePairedRatios) {
  const Case c = test::small_case(2);
  Evidence e = test::good_evidence(c, 0.5);
  e.wall_ms = 70;
  for (ShapeEvidence& s : e.shapes) {
    s.timing.clock = "wall";
    for (int i = 0; i < 30; ++i) s.timing.samples.push_back({9, 9, 1.0 + (i % 2), 2.0 + 2 * (i % 2)});
  }
  bench::Built built;
  built.evidence.outcome = BuildEvidence::Outcome::ok;
  built.evidence.wall_ms = 300;
  const recording::Entry entry = entry_from(built, e, 8);
  ASSERT_TRUE(entry.ok());
  EXPECT_DOUBLE_EQ(entry.time_ms, 4);
  EXPECT_DOUBLE_EQ(entry.compile_ms, 300);
  EXPECT_DOUBLE_EQ(entry.bench_ms, 70);
  ASSERT_EQ(entry.samples_ms.size(), 24U);
  for (const double sample : entry.samples_ms) EXPECT_NEAR(sample, 4, 1e-12);
}

TEST(EntryFromTest, FailuresKeepTheirReasonCode) {
  bench::Built built;
  built.evidence.outcome = BuildEvidence::Outcome::failed;
  built.evidence.reason = Reason::build_failed;
  built.evidence.detail = "x.cpp:1: error";
  EXPECT_EQ(entry_from(built, {}, 1).status, recording::Outcome::compile_failed);
  EXPECT_EQ(entry_from(built, {}, 1).reason, "BUILD_FAILED: x.cpp:1: error");
  built.evidence.outcome = BuildEvidence::Outcome::ok;
  Evidence e;
  e.rejection = Reason::out_of_bounds;
  EXPECT_EQ(entry_from(built, e, 1).status, recording::Outcome::runtime_failed);
  e.rejection = Reason::nan_mismatch;
  EXPECT_EQ(entry_from(built, e, 1).status, recording::Outcome::wrong_result);
  e.rejection = Reason::timeout;
  EXPECT_EQ(entry_from(built, e, 1).status, recording::Outcome::timed_out);
  e.rejection = Reason::none;
  e.log_ratio = std::nan("");
  EXPECT_EQ(entry_from(built, e, 1).status, recording::Outcome::no_time);
}

}  // namespace
}  // namespace tunesmith::app
