#include "recording/write.h"

#include "base/text.h"
#include "files.h"
#include "support/schema_check.h"

namespace tunesmith::recording {
namespace {

constexpr const char* k_own =
    R"({"tunesmith_recording":1,"name":"twist","kernel":"twist","device":"CPU 9000","parameters":{"a":[1,2,3],"s":["x","y"]},"constraints":["a < 3 or s == 'x'"],"baseline":{"a":1,"s":"x"},"baseline_ms":2}
{"config":{"a":1,"s":"x"},"status":"ok","time_ms":2,"samples_ms":[2,2.1,1.9],"compile_ms":300,"verify_ms":1,"bench_ms":20}
{"config":{"a":1,"s":"y"},"status":"compile_failed","compile_ms":100,"reason":"BUILD_FAILED: no such type"}
{"config":{"a":2,"s":"x"},"status":"wrong_result","reason":"WRONG_RESULT"}
{"config":{"a":2,"s":"y"},"status":"timed_out"}
{"config":{"a":3,"s":"x"},"status":"ok","time_ms":1.5}
)";

void expect_same(const Recording& a, const Recording& b) {
  ASSERT_EQ(a.entries.size(), b.entries.size());
  EXPECT_EQ(a.kernel, b.kernel);
  EXPECT_EQ(a.device, b.device);
  for (std::size_t i = 0; i < a.entries.size(); ++i) {
    EXPECT_EQ(a.space.text(a.entries[i].config), b.space.text(b.entries[i].config));
    EXPECT_EQ(a.entries[i].status, b.entries[i].status);
    EXPECT_EQ(a.entries[i].ok(), b.entries[i].ok());
    if (a.entries[i].ok()) {
      EXPECT_DOUBLE_EQ(a.entries[i].time_ms, b.entries[i].time_ms);
    }
    EXPECT_DOUBLE_EQ(a.entries[i].cost_ms(), b.entries[i].cost_ms());
  }
}

TEST(OwnFormatTest, ReadsWhatItSays) {
  const auto r = read_text(k_own, "twist.jsonl");
  ASSERT_TRUE(r) << r.error().line();
  EXPECT_EQ(r->format, "tunesmith");
  EXPECT_EQ(r->space.count(), 5U);
  EXPECT_EQ(r->failures(), 3U);
  EXPECT_EQ(r->best(), std::optional(1.5));
  ASSERT_TRUE(r->baseline);
  EXPECT_EQ(r->space.text(*r->baseline), "a=1 s=x");
  EXPECT_EQ(entry_of(*r, "a=1 s=x")->samples_ms.size(), 3U);
  EXPECT_EQ(entry_of(*r, "a=1 s=y")->reason, "BUILD_FAILED: no such type");
  EXPECT_TRUE(r->notes.empty());
}

TEST(OwnFormatTest, ATornTailCostsOneLineWhereverItIsCut) {
  const std::string text = k_own;
  const std::size_t last = text.rfind("{\"config\"");
  for (std::size_t end = last + 1; end + 2 < text.size(); ++end) {
    const auto r = read_text(std::string_view(text).substr(0, end));
    ASSERT_TRUE(r) << r.error().line();
    EXPECT_EQ(r->entries.size(), 4U);
    EXPECT_TRUE(noted(*r, "torn: line 6"));
  }
}

TEST(OwnFormatTest, AHeaderAloneIsNoRecording) {
  const std::string text = k_own;
  EXPECT_FALSE(read_text(text.substr(0, text.find('\n') + 1)));
}

TEST(OwnFormatTest, ANewerVersionIsRefusedByNumber) {
  const auto r = read_text(R"({"tunesmith_recording":2,"parameters":{"a":[1]}})");
  ASSERT_FALSE(r);
  EXPECT_NE(r.error().line().find("version 2"), std::string::npos);
}

TEST(WriteTest, OurOwnFormatReadsBackTheSame) {
  const auto r = read_text(k_own);
  ASSERT_TRUE(r);
  const auto again = read_text(to_own(*r));
  ASSERT_TRUE(again) << again.error().line();
  expect_same(*r, *again);
  EXPECT_EQ(again->space.constraints().size(), 1U);
  EXPECT_EQ(again->baseline, r->baseline);
}

TEST(WriteTest, WhatIsWrittenFollowsTheSchemaAndShippedRecordingsDoAsWell) {
  const std::string root = TUNESMITH_SOURCE_DIR;
  const auto text = read_file(root + "/schemas/recording.schema.json");
  ASSERT_TRUE(text);
  const testing::SchemaCheck check(json::parse(*text));
  const auto faults = [&](std::string_view lines) {
    std::string out;
    for (const std::string_view line : split_lines(lines))
      for (const std::string& fault : check.faults(json::parse(json::string_view(line.data(), line.size()))))
        out += fault + "\n";
    return out;
  };
  const auto r = read_text(k_own);
  EXPECT_EQ(faults(to_own(*r)), "");
  EXPECT_NE(faults(R"({"config":{"a":1},"status":"fine"})"), "");
  EXPECT_NE(faults(R"({"config":{"a":1},"status":"ok","time_ms":0})"), "");
  int shipped = 0;
  for (const std::string& name : list_folder(root + "/recordings")) {
    if (!name.ends_with(".jsonl.gz")) continue;
    const std::string path = root + "/recordings/" + name;
    EXPECT_EQ(faults(gunzip(*read_file(path))->text), "") << name;
    const auto recording = read_recording(path);
    ASSERT_TRUE(recording) << recording.error().line();
    EXPECT_TRUE(recording->notes.empty() || noted(*recording, "are recorded: those are the space")) << name;
    EXPECT_TRUE(recording->best()) << name;
    EXPECT_LE(recording->entries.size(), 2000U);
    ++shipped;
  }
  EXPECT_GT(shipped, 0);
}

TEST(WriteTest, T4ReadsBackTheSame) {
  const auto r = read_text(k_own);
  ASSERT_TRUE(r);
  const auto again = read_text(to_t4(*r));
  ASSERT_TRUE(again) << again.error().line();
  EXPECT_EQ(again->format, "t4");
  expect_same(*r, *again);
}

TEST(WriteTest, T4IsStrictJsonWithTheSchemasKeys) {
  const auto r = read_text(k_own);
  const auto node = Node::parse(to_t4(*r), "t4.json");
  ASSERT_TRUE(node) << node.error().line();
  const auto results = node->get("results")->items();
  ASSERT_EQ(results->size(), 5U);
  for (const Node& result : *results)
    for (const char* key : {"configuration", "times", "invalidity", "correctness"})
      EXPECT_TRUE(result.find(key));
}

TEST(T4Test, ReadsBothSpellingsUnitsAndFailures) {
  const auto r = read_text(R"({"schema_version": "1.0.0", "results": [
{"configuration": {"a": 1}, "times": {"compilation": 100, "validation": 2, "benchmark": 9, "runtimes": [1.0, 3.0]}, "invalidity": "correct", "correctness": 1, "measurements": [{"name": "time", "value": 2, "unit": "ms"}], "objectives": ["time"]},
{"configuration": {"a": 2}, "times": {"compilation_time": 50}, "invalidity": "correct", "correctness": 1, "measurements": [{"name": "time", "value": 500, "unit": "us"}], "objectives": ["time"]},
{"configuration": {"a": 3}, "times": {"runtimes": [4, 6]}, "invalidity": "correct", "correctness": 1},
{"configuration": {"a": 4}, "times": {}, "invalidity": "correctness", "correctness": 0},
{"configuration": {"a": 5}, "times": {}, "invalidity": "timeout", "correctness": 0},
{"configuration": {"a": 6}, "times": {}, "invalidity": "constraints", "correctness": 0},
{"configuration": {"a": 7}, "times": {}, "invalidity": "compile", "correctness": 0},
{"configuration": {"b": 7}, "times": {}, "invalidity": "compile", "correctness": 0},
{"configuration": {"a": 8}, "times": {}, "inval)");
  ASSERT_TRUE(r) << r.error().line();
  EXPECT_EQ(r->entries.size(), 7U);
  EXPECT_DOUBLE_EQ(entry_of(*r, "a=1")->time_ms, 2);
  EXPECT_DOUBLE_EQ(entry_of(*r, "a=1")->cost_ms(), 111);
  EXPECT_EQ(entry_of(*r, "a=1")->samples_ms.size(), 2U);
  EXPECT_DOUBLE_EQ(entry_of(*r, "a=2")->time_ms, 0.5);
  EXPECT_DOUBLE_EQ(entry_of(*r, "a=2")->compile_ms, 50);
  EXPECT_DOUBLE_EQ(entry_of(*r, "a=3")->time_ms, 5);
  EXPECT_EQ(entry_of(*r, "a=4")->status, Outcome::wrong_result);
  EXPECT_EQ(entry_of(*r, "a=5")->status, Outcome::timed_out);
  EXPECT_EQ(entry_of(*r, "a=6")->status, Outcome::refused);
  EXPECT_EQ(entry_of(*r, "a=7")->status, Outcome::compile_failed);
  EXPECT_TRUE(noted(*r, "line 9"));
  EXPECT_TRUE(noted(*r, "torn: line 10, column 1"));
}

}  // namespace
}  // namespace tunesmith::recording
