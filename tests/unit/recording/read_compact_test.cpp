#include "files.h"
#include "recording/formats.h"

namespace tunesmith::recording {
namespace {

constexpr const char* k_description = R"({
 "name": "twist_gpu", "kernel": "twist", "device": "Example GPU", "objective": "time", "direction": "minimize", "unit": "ms",
 "parameters": {"bx": [16, 32, 64], "pad": [0, 1]},
 "constraints": ["bx > 16 or pad == 0"], "configurations": 5, "optimum_ms": 1.5
})";
constexpr const char* k_table =
    "bx,pad,status,time_ms,compile_ms,verify_ms,bench_ms\n"
    "16,0,ok,4.5,900,0.5,120\n"
    "32,0,ok,2,901,0,100\n"
    "32,1,compile_failed,,50,0,0\n"
    "64,0,runtime_failed,,910,0,3\n"
    "64,1,ok,1.5,920,0,90\n";

TEST(CompactTest, EitherFileOfThePairNamesIt) {
  const Files files;
  files.put("twist_gpu.json", k_description);
  files.put("twist_gpu.csv.gz", *gzip(k_table));
  for (const char* name : {"twist_gpu.json", "twist_gpu.csv.gz"}) {
    const auto r = read_recording(files.path(name));
    ASSERT_TRUE(r) << r.error().line();
    EXPECT_EQ(r->name, "twist_gpu");
    EXPECT_EQ(r->format, "compact");
    EXPECT_EQ(r->space.count(), 5U);
    EXPECT_EQ(r->failures(), 2U);
    EXPECT_EQ(r->best(), std::optional(1.5));
    EXPECT_EQ(entry_of(*r, "bx=32 pad=1")->status, Outcome::compile_failed);
    EXPECT_DOUBLE_EQ(entry_of(*r, "bx=16 pad=0")->verify_ms, 0.5);
    EXPECT_TRUE(r->notes.empty());
    EXPECT_EQ(r->space.constraints().size(), 1U);
  }
}

TEST(CompactTest, ATornTableKeepsWhatIsWholeAndTheSpaceIsThat) {
  const Files files;
  files.put("t.json", k_description);
  files.put("t.csv", std::string(k_table).substr(0, std::string(k_table).find("910")));
  const auto r = read_recording(files.path("t.json"));
  ASSERT_TRUE(r) << r.error().line();
  EXPECT_EQ(r->space.count(), 3U);
  EXPECT_TRUE(noted(*r, "torn: line 5"));
  EXPECT_TRUE(noted(*r, "3 of 5 legal configurations are recorded"));
}

TEST(CompactTest, ADescriptionWithoutItsTableSaysWhatIsMissing) {
  const Files files;
  const auto r = read_recording(files.put("t.json", k_description));
  ASSERT_FALSE(r);
  EXPECT_NE(r.error().line().find(".csv.gz"), std::string::npos);
}

TEST(CompactTest, ATableAloneIsASpaceOfItsPoints) {
  const auto r = read_text(k_table, "t.csv");
  ASSERT_TRUE(r) << r.error().line();
  EXPECT_EQ(r->space.count(), 5U);
  EXPECT_TRUE(noted(*r, "without the .json"));
}

TEST(CompactTest, RecordsAgainstTheConstraintsAreLeftOutAndTold) {
  const Files files;
  files.put("t.json", k_description);
  files.put("t.csv", std::string(k_table) + "16,1,ok,0.1,1,0,1\n128,1,ok,0.1,1,0,1\n");
  const auto r = read_recording(files.path("t.json"));
  ASSERT_TRUE(r);
  EXPECT_EQ(r->best(), std::optional(1.5));
  EXPECT_TRUE(noted(*r, "1 record against the constraints"));
  EXPECT_TRUE(noted(*r, "1 record with a value that its parameter does not list"));
}

TEST(CompactTest, EveryRecordedSpaceReadsWholeWithItsOptimum) {
  if (data_folder().empty()) GTEST_SKIP() << "TUNESMITH_DATA names no folder of recorded spaces";
  int seen = 0;
  for (const std::string& name : list_folder(data_folder() + "/spaces")) {
    if (!name.ends_with(".json")) continue;
    const std::string path = data_folder() + "/spaces/" + name;
    const auto r = read_recording(path);
    ASSERT_TRUE(r) << r.error().line();
    const auto description = Node::read(path);
    EXPECT_EQ(static_cast<std::int64_t>(r->entries.size()), *description->get("configurations")->as_int())
        << name;
    EXPECT_EQ(static_cast<std::int64_t>(r->entries.size() - r->failures()),
              *description->get("valid")->as_int());
    EXPECT_DOUBLE_EQ(*r->best(), *description->get("optimum_ms")->as_double()) << name;
    EXPECT_TRUE(r->notes.empty()) << name << r->notes.front();
    ++seen;
  }
  EXPECT_GT(seen, 0);
}

}  // namespace
}  // namespace tunesmith::recording
