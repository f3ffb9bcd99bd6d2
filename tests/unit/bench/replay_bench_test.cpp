#include "bench/replay_bench.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/file.h"

namespace tunesmith::bench {
namespace {

constexpr const char* k_recording =
    R"({"tunesmith_recording":1,"name":"t","kernel":"twist","device":"CPU 9000","parameters":{"a":[1,2,3,4,5,6,7,8]},"constraints":[],"baseline":{"a":1},"baseline_ms":4}
{"config":{"a":1},"status":"ok","time_ms":4,"compile_ms":1000,"verify_ms":100,"bench_ms":50}
{"config":{"a":2},"status":"ok","time_ms":3.99,"compile_ms":1000,"verify_ms":0,"bench_ms":500}
{"config":{"a":3},"status":"ok","time_ms":2,"compile_ms":2000}
{"config":{"a":4},"status":"compile_failed","compile_ms":300,"reason":"BUILD_FAILED: no such type"}
{"config":{"a":5},"status":"runtime_failed","compile_ms":300,"verify_ms":7}
{"config":{"a":6},"status":"wrong_result","reason":"STALE_OUTPUT: nothing was written"}
{"config":{"a":7},"status":"timed_out"}
{"config":{"a":8},"status":"refused"}
)";

class ReplayBenchTest : public testing::Test {
 protected:
  void SetUp() override { load(k_recording); }
  void load(const std::string& text) {
    ASSERT_TRUE(write_scratch(m_folder.path() + "/t.jsonl", text));
    auto loaded = load_case(m_folder.path() + "/t.jsonl");
    ASSERT_TRUE(loaded) << loaded.error().line();
    c = std::move(*loaded);
  }
  Candidate candidate(std::uint32_t index) const { return {space::Config{{index}}, {}}; }
  static Evidence measure(ReplayBench& bench, const Candidate& one) {
    const auto built = bench.build(std::span(&one, 1));
    if (built[0].evidence.outcome != BuildEvidence::Outcome::ok) {
      Evidence e;
      e.build = built[0].evidence;
      return e;
    }
    return bench.measure(one, built[0]);
  }

  TempDir m_folder = *TempDir::make();
  Case c;
  BenchOptions options;
};

TEST_F(ReplayBenchTest, GivesTheRecordedTimesExactly) {
  ReplayBench bench(c, options);
  const auto opening = bench.open();
  ASSERT_TRUE(opening);
  EXPECT_DOUBLE_EQ(opening->baseline.shapes.at(0).timing.latency_ms, 4);
  EXPECT_EQ(opening->baseline.machine, "CPU 9000");
  EXPECT_NE(opening->notes.at(0).find("nothing is measured"), std::string::npos);
  const Evidence e = measure(bench, candidate(2));
  EXPECT_EQ(e.comparison, Comparison::faster);
  EXPECT_DOUBLE_EQ(e.log_ratio, std::log(0.5));
  EXPECT_DOUBLE_EQ(e.shapes.at(0).timing.latency_ms, 2);
}

TEST_F(ReplayBenchTest, ExactFiguresDifferWhereverTheyDiffer) {
  ReplayBench bench(c, options);
  ASSERT_TRUE(bench.open());
  EXPECT_EQ(measure(bench, candidate(1)).comparison, Comparison::faster);  // by a quarter of a percent
  EXPECT_EQ(measure(bench, candidate(0)).comparison, Comparison::same);
}

TEST_F(ReplayBenchTest, LaterOnesRaceTheIncumbentAndKeepTheirRatioToTheBaseline) {
  ReplayBench bench(c, options);
  ASSERT_TRUE(bench.open());
  const Candidate best = candidate(2);
  const auto built = bench.build(std::span(&best, 1));
  const Evidence first = bench.measure(best, built[0]);
  ASSERT_TRUE(bench.set_incumbent(&best, &built[0], first.log_ratio_to_baseline));
  const Evidence second = measure(bench, candidate(1));
  EXPECT_EQ(second.comparison, Comparison::slower);
  EXPECT_NEAR(second.log_ratio, std::log(3.99 / 2), 1e-12);
  EXPECT_NEAR(second.log_ratio_to_baseline, std::log(3.99 / 4), 1e-12);
  const Evidence confirmed = bench.confirm(best);
  EXPECT_TRUE(confirmed.confirmed);
  EXPECT_NEAR(confirmed.log_ratio, std::log(0.5), 1e-12);
}

TEST_F(ReplayBenchTest, RecordedFailuresComeBackWithTheirReasons) {
  ReplayBench bench(c, options);
  ASSERT_TRUE(bench.open());
  EXPECT_EQ(measure(bench, candidate(3)).build.reason, Reason::build_failed);
  EXPECT_NE(measure(bench, candidate(3)).build.detail.find("no such type"), std::string::npos);
  EXPECT_EQ(measure(bench, candidate(4)).rejection, Reason::crashed);
  EXPECT_EQ(measure(bench, candidate(5)).rejection, Reason::stale_output);
  EXPECT_EQ(measure(bench, candidate(6)).rejection, Reason::timeout);
  EXPECT_EQ(measure(bench, candidate(7)).build.reason, Reason::constraint);
}

TEST_F(ReplayBenchTest, ChargesTheRecordedCostToTheSimulatedClock) {
  SimulatedClock clock;
  options.simulated_ns = clock.charged_ns();
  ReplayBench bench(c, options);
  EXPECT_EQ(clock.now_ns(), 0);
  ASSERT_TRUE(bench.open());
  EXPECT_EQ(clock.now_ns(), 1'150'000'000);  // the baseline
  (void)measure(bench, candidate(1));
  EXPECT_EQ(clock.now_ns(), 2'650'000'000);
  (void)measure(bench, candidate(3));  // a failed build costs its build
  EXPECT_EQ(clock.now_ns(), 2'950'000'000);
  (void)measure(bench, candidate(4));
  EXPECT_EQ(clock.now_ns(), 3'257'000'000);
}

TEST_F(ReplayBenchTest, APatchIsRefused) {
  ReplayBench bench(c, options);
  EXPECT_FALSE(bench.identity({space::Config{{0}}, "--- a\n+++ b\n"}));
  EXPECT_NE(*bench.identity(candidate(0)), *bench.identity(candidate(1)));
}

std::string noisy(double ratio) {
  std::string text = R"({"tunesmith_recording":1,"parameters":{"a":[1,2]},"baseline":{"a":1}})"
                     "\n";
  for (int a = 1; a <= 2; ++a) {
    text += fmt::format(R"({{"config":{{"a":{}}},"status":"ok","time_ms":{},"samples_ms":[)", a,
                        a == 1 ? 1.0 : ratio);
    for (int i = 0; i < 20; ++i)
      text += fmt::format("{}{:.4f}", i > 0 ? "," : "", (a == 1 ? 1.0 : ratio) * (0.95 + 0.005 * i));
    text += "]}\n";
  }
  return text;
}

TEST_F(ReplayBenchTest, RecordedRepeatsAreDrawnAsNoiseByTheSeed) {
  load(noisy(0.8));
  options.seed = 5;
  ReplayBench bench(c, options);
  ASSERT_TRUE(bench.open());
  const Evidence a = measure(bench, candidate(1));
  EXPECT_EQ(a.comparison, Comparison::faster);
  EXPECT_GE(a.shapes.at(0).timing.pairs, 8);
  EXPECT_NEAR(a.log_ratio, std::log(0.8), 0.04);
  EXPECT_NE(a.log_ratio, std::log(0.8));
  EXPECT_LT(a.shapes.at(0).timing.log_ratio_low, a.shapes.at(0).timing.log_ratio_high);
  EXPECT_EQ(measure(bench, candidate(1)).log_ratio, a.log_ratio);  // the same seed, the same draw
  options.seed = 6;
  ReplayBench other(c, options);
  EXPECT_NE(measure(other, candidate(1)).log_ratio, a.log_ratio);
}

TEST_F(ReplayBenchTest, WithNoiseATinyAdvantageIsNotFaster) {
  load(noisy(0.999));
  ReplayBench bench(c, options);
  ASSERT_TRUE(bench.open());
  EXPECT_NE(measure(bench, candidate(1)).comparison, Comparison::faster);
}

TEST_F(ReplayBenchTest, WhereEverythingFailedItOpensAllTheSame) {
  load(R"({"tunesmith_recording":1,"parameters":{"a":[1,2]}}
{"config":{"a":1},"status":"compile_failed"}
{"config":{"a":2},"status":"runtime_failed"}
)");
  ReplayBench bench(c, options);
  const auto opening = bench.open();
  ASSERT_TRUE(opening);
  EXPECT_DOUBLE_EQ(opening->baseline.shapes.at(0).timing.latency_ms, 1);
  EXPECT_EQ(measure(bench, candidate(1)).rejection, Reason::crashed);
}

TEST_F(ReplayBenchTest, ACaseWithoutARecordingIsRefused) {
  Case none;
  EXPECT_FALSE(make_replay_bench(none, options));
}

}  // namespace
}  // namespace tunesmith::bench
