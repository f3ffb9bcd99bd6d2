#include "case/evidence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tunesmith {
namespace {

Result<Evidence> read(const json::object& object) {
  auto node = Node::parse(print_json_compact(object), "evidence.json");
  if (!node) return tl::unexpected<Error>(node.error());
  return evidence_from_json(*node);
}

/// Every field differs from its default, so that a forgotten one shows.
Evidence full() {
  Evidence e;
  e.build.outcome = BuildEvidence::Outcome::timed_out;
  e.build.reason = Reason::build_timeout;
  e.build.detail = "kernel.cpp:3:1: \"quoted\"\nand a line";
  e.build.log_path = "logs/x.log";
  e.build.log_excerpt = "tab\there";
  e.build.identity = "ab12";
  e.build.library_sha256 = "cd34";
  e.build.compiler = "g++ (Debian) 12.2.0";
  e.build.flags = {"-O2", "-DMR=4"};
  e.build.wall_ms = 512.25;
  e.build.cpu_ms = 480.5;
  e.build.overhead_cpu_ms = 4.125;
  e.build.reused = true;
  ShapeEvidence s;
  s.shape = "m=8 n=64";
  s.weight = 2.5;
  s.flops = 1e12;
  s.bytes = 3e9;
  s.check = {3, 2, 0.25, 0.5, 0.75, 0.875, 17, true};
  s.timing.pairs = 40;
  s.timing.calls_per_sample = 7;
  s.timing.latency_ms = 1.5;
  s.timing.cpu_ms = 1.25;
  s.timing.incumbent_latency_ms = 1.75;
  s.timing.incumbent_cpu_ms = 1.625;
  s.timing.log_ratio = -0.125;
  s.timing.log_ratio_low = -0.25;
  s.timing.log_ratio_high = -0.0625;
  s.timing.confidence = 0.75;
  s.timing.comparison = Comparison::faster;
  s.timing.clock = "cpu";
  s.timing.mode = "warm";
  s.timing.floor_ms = 0.5;
  s.timing.idle_cpu_ms = 0.03125;
  s.timing.samples = {{1, 2, 3, 4}, {5.5, 6.5, 7.5, 8.5}};
  e.shapes = {s, ShapeEvidence{}};
  e.rejection = Reason::wrong_result;
  e.rejection_detail = "c[3,4] is 5 and should be 4";
  e.log_ratio = -0.5;
  e.comparison = Comparison::slower;
  e.log_ratio_to_baseline = -0.625;
  e.peak_memory_bytes = 18'000'000'000'000'000'000ULL;
  e.isolation = "userns+seccomp";
  e.machine = "CPU";
  e.seed = std::numeric_limits<std::uint64_t>::max();
  e.load_average = 1.5;
  e.overhead_cpu_ms = 9.5;
  e.wall_ms = 1000.5;
  e.self_reported = e.infra = e.confirmed = true;
  return e;
}

TEST(EvidenceTest, ComesBackWholeFromJson) {
  const json::object written = evidence_to_json(full());
  const auto back = read(written);
  ASSERT_TRUE(back) << back.error().line();
  EXPECT_EQ(print_json(evidence_to_json(*back)), print_json(written));
  EXPECT_EQ(back->seed, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(back->peak_memory_bytes, 18'000'000'000'000'000'000ULL);
  EXPECT_EQ(back->build.outcome, BuildEvidence::Outcome::timed_out);
  EXPECT_EQ(back->build.flags, full().build.flags);
  ASSERT_EQ(back->shapes.size(), 2U);
  EXPECT_EQ(back->shapes[0].check.bad_elements, 17);
  EXPECT_EQ(back->shapes[0].timing.samples.at(1).candidate_wall_ms, 7.5);
  EXPECT_EQ(back->rejection, Reason::wrong_result);
  EXPECT_TRUE(back->confirmed);
}

TEST(EvidenceTest, NoFieldKeepsItsDefaultInTheFullExample) {
  // Guards the test above: a field added to the struct and to the writer must be set there as well.
  const json::object standard = evidence_to_json(Evidence{});
  const json::object filled = evidence_to_json(full());
  for (const auto& member : standard) {
    EXPECT_NE(print_json_compact(member.value()), print_json_compact(filled.at(member.key())))
        << member.key();
  }
}

TEST(EvidenceTest, KeepsEveryDoubleToTheLastBit) {
  Evidence e;
  for (const double number :
       {0.1, 1.0 / 3.0, 123.45678901234567, 3.0517578125e-05, 8.41e-9, 2.2250738585072014e-308}) {
    e.log_ratio = number;
    const auto back = read(evidence_to_json(e));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->log_ratio, number);
  }
}

TEST(EvidenceTest, NanAndInfinityBecomeNullAndComeBackAsNan) {
  Evidence e;
  e.log_ratio = std::numeric_limits<double>::quiet_NaN();
  e.wall_ms = std::numeric_limits<double>::infinity();
  e.shapes.emplace_back();
  e.shapes[0].check.max_abs_error = -std::numeric_limits<double>::infinity();
  e.shapes[0].timing.samples = {{std::numeric_limits<double>::quiet_NaN(), 1, 2, 3}};
  const json::object written = evidence_to_json(e);
  EXPECT_TRUE(written.at("log_ratio").is_null());
  EXPECT_TRUE(written.at("wall_ms").is_null());
  const auto back = read(written);
  ASSERT_TRUE(back) << back.error().line();
  EXPECT_TRUE(std::isnan(back->log_ratio));
  EXPECT_TRUE(std::isnan(back->wall_ms));
  EXPECT_TRUE(std::isnan(back->shapes[0].check.max_abs_error));
  EXPECT_TRUE(std::isnan(back->shapes[0].timing.samples[0].candidate_cpu_ms));
}

TEST(EvidenceTest, AbsentFieldsNeverCountAsAPass) {
  const auto back = read(json::parse(R"({"shapes":[{"shape":"a"}]})").as_object());
  ASSERT_TRUE(back);
  EXPECT_FALSE(back->shapes[0].check.passed);
  EXPECT_EQ(back->shapes[0].check.executed, 0);
  EXPECT_EQ(back->build.outcome, BuildEvidence::Outcome::infra);
  EXPECT_EQ(back->comparison, Comparison::ambiguous);
}

TEST(EvidenceTest, AWrongKindIsRefusedWithItsPlace) {
  const auto error = [](const char* text) {
    const auto back = read(json::parse(text).as_object());
    return back ? std::string() : back.error().line();
  };
  EXPECT_EQ(error(R"({"rejection":"NO_SUCH"})"),
            "evidence.json:1:14: /rejection: unknown reason code \"NO_SUCH\"; see docs/reason-codes.md");
  EXPECT_NE(error(R"({"seed":-1})").find("/seed: must not be negative"), std::string::npos);
  EXPECT_NE(error(R"({"comparison":"fastest"})").find("unknown value \"fastest\""), std::string::npos);
  EXPECT_NE(error(R"({"shapes":[{"timing":{"samples":[[1,2,3]]}}]})").find("/shapes/0/timing/samples/0"),
            std::string::npos);
  EXPECT_NE(error(R"({"build":7})").find("/build: must be an object"), std::string::npos);
  EXPECT_NE(error(R"({"shapes":[{"check":{"planned":3000000000}}]})").find("out of range"),
            std::string::npos);
}

}  // namespace
}  // namespace tunesmith
