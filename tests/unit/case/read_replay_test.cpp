// Recorded spaces as cases: by themselves, by a T1 file that names one, by a case of backend "replay".
#include "fixture.h"
#include "recording/gzip.h"

namespace tunesmith::testing {
namespace {

constexpr const char* k_recording =
    R"({"tunesmith_recording":1,"name":"t","kernel":"twist","device":"CPU 9000","parameters":{"a":[1,2,3]},"constraints":[]}
{"config":{"a":1},"status":"compile_failed"}
{"config":{"a":2},"status":"ok","time_ms":2}
{"config":{"a":3},"status":"ok","time_ms":1}
)";

class ReplayCaseTest : public CaseFixture {
 protected:
  void SetUp() override { write(file("t.jsonl"), k_recording); }
  Result<Case> read(const std::string& text) {
    write(file("replay.json"), text);
    return load_case(file("replay.json"));
  }
};

TEST_F(ReplayCaseTest, ARecordingIsACaseByItself) {
  const auto c = load_case(file("t.jsonl"));
  ASSERT_TRUE(c) << c.error().line();
  EXPECT_EQ(c->backend, "replay");
  EXPECT_EQ(c->name, "t");
  EXPECT_EQ(c->space.count(), 3U);
  ASSERT_TRUE(c->recording);
  ASSERT_TRUE(c->baseline.config);
  EXPECT_EQ(c->space.text(*c->baseline.config), "a=2");  // the first that works, not the best
}

TEST_F(ReplayCaseTest, APackedRecordingIsACase) {
  write(file("p.jsonl.gz"), *recording::gzip(k_recording));
  const auto c = load_case(file("p.jsonl.gz"));
  ASSERT_TRUE(c) << c.error().line();
  EXPECT_EQ(c->name, "p");
}

TEST_F(ReplayCaseTest, ACaseFileNamesItsRecordingAndBaseline) {
  const auto c = read(
      R"({"name": "mine", "backend": "replay", "recording": "t.jsonl", "baseline": {"config": {"a": 3}}})");
  ASSERT_TRUE(c) << c.error().line();
  EXPECT_EQ(c->name, "mine");
  EXPECT_EQ(c->space.text(*c->baseline.config), "a=3");
}

TEST_F(ReplayCaseTest, FaultsAreNamedWithTheirPlace) {
  const auto line = [&](const std::string& text) {
    const auto c = read(text);
    return c ? std::string("it reads") : c.error().line();
  };
  EXPECT_NE(line(R"({"name": "x", "backend": "replay"})").find("recording"), std::string::npos);
  EXPECT_NE(line(R"({"name": "x", "backend": "replay", "recording": "no.json"})").find("there is no file"),
            std::string::npos);
  EXPECT_NE(
      line(R"({"name": "x", "backend": "replay", "recording": "t.jsonl", "baseline": {"config": {"a": 1}}})")
          .find("recorded as compile_failed"),
      std::string::npos);
  EXPECT_NE(
      line(R"({"name": "x", "backend": "replay", "recording": "t.jsonl", "shapes": []})").find("shapes"),
      std::string::npos);
}

TEST_F(ReplayCaseTest, AT1FileGivesTheSpaceOfTheRecordingThatItNames) {
  write(file("t1.json"),
        R"({"ConfigurationSpace": {"TuningParameters": [{"Name": "a", "Type": "int", "Values": "[1, 2, 3]"}],
    "Conditions": [{"Parameters": ["a"], "Expression": "a != 3"}]},
    "KernelSpecification": {"KernelName": "twist", "SimulationInput": "t.jsonl"}})");
  const auto c = load_case(file("t1.json"));
  ASSERT_TRUE(c) << c.error().line();
  EXPECT_EQ(c->name, "t1");
  EXPECT_EQ(c->space.count(), 2U);
  write(file("bare.json"),
        R"({"ConfigurationSpace": {"TuningParameters": [{"Name": "a", "Type": "int", "Values": "[1, 2, 3]"}]},
    "KernelSpecification": {"KernelName": "twist"}})");
  const auto bare = load_case(file("bare.json"));
  ASSERT_FALSE(bare);
  EXPECT_NE(bare.error().line().find("SimulationInput"), std::string::npos);
  const auto by_case =
      read(R"({"name": "x", "backend": "replay", "recording": "t.jsonl", "space": "bare.json"})");
  ASSERT_TRUE(by_case) << by_case.error().line();
  EXPECT_EQ(by_case->space.count(), 3U);
}

TEST_F(ReplayCaseTest, WhereEverythingFailedThereIsACaseWithoutABaselineConfiguration) {
  write(file("f.jsonl"), R"({"tunesmith_recording":1,"parameters":{"a":[1,2]}}
{"config":{"a":1},"status":"compile_failed"}
{"config":{"a":2},"status":"runtime_failed"}
)");
  const auto c = load_case(file("f.jsonl"));
  ASSERT_TRUE(c) << c.error().line();
  EXPECT_FALSE(c->baseline.config);
}

}  // namespace
}  // namespace tunesmith::testing
