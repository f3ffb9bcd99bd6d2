#include <fmt/format.h>

#include <cmath>

#include "files.h"

namespace tunesmith::recording {
namespace {

constexpr const char* k_head = R"({
"device_name": "Example GPU",
"kernel_name": "twist",
"problem_size": 1024,
"tune_params_keys": [
"bx",
"mode"
],
"tune_params": {
"bx": [
16,
32,
64
],
"mode": [
"row",
"col"
]
},
"objective": "time",
"cache": {
)";

std::string record(int bx, const std::string& mode, const std::string& rest) {
  return fmt::format(
      R"("{0},{1}": {{"bx": {0}, "mode": "{1}", {2}, "compile_time": 100.5, "verification_time": 2, "benchmark_time": 30}})",
      bx, mode, rest);
}

std::string cache(const std::vector<std::string>& records, const std::string& tail = "}\n}") {
  std::string text = k_head;
  for (std::size_t i = 0; i < records.size(); ++i) text += (i > 0 ? ",\n" : "") + records[i];
  return text + tail;
}

std::vector<std::string> six() {
  return {record(16, "row", R"("time": 4.5)"),
          record(16, "col", R"("time": 3)"),
          record(32, "row", R"("time": "CompilationFailedConfig")"),
          record(32, "col", R"("time": "RuntimeFailedConfig")"),
          record(64, "row", R"("time": "InvalidConfig")"),
          record(64, "col", R"("time": 1.25, "times": [1.2, 1.3])")};
}

TEST(KernelTunerTest, ReadsTimesFailuresAndCosts) {
  const auto r = read_text(cache(six()), "twist_gpu.json");
  ASSERT_TRUE(r) << r.error().line();
  EXPECT_EQ(r->format, "kernel-tuner");
  EXPECT_EQ(r->name, "twist_gpu");
  EXPECT_EQ(r->kernel, "twist");
  EXPECT_EQ(r->device, "Example GPU");
  EXPECT_EQ(r->space.count(), 6U);
  EXPECT_TRUE(r->notes.empty()) << r->notes.front();
  EXPECT_DOUBLE_EQ(entry_of(*r, "bx=16 mode=row")->time_ms, 4.5);
  EXPECT_DOUBLE_EQ(entry_of(*r, "bx=16 mode=row")->cost_ms(), 132.5);
  EXPECT_EQ(entry_of(*r, "bx=32 mode=row")->status, Outcome::compile_failed);
  EXPECT_EQ(entry_of(*r, "bx=32 mode=col")->status, Outcome::runtime_failed);
  EXPECT_EQ(entry_of(*r, "bx=64 mode=row")->status, Outcome::refused);
  EXPECT_EQ(entry_of(*r, "bx=64 mode=col")->samples_ms, (std::vector<double>{1.2, 1.3}));
  EXPECT_EQ(r->failures(), 3U);
  EXPECT_EQ(r->best(), std::optional(1.25));
}

TEST(KernelTunerTest, AWholeNumberIsATime) {
  const auto r = read_text(cache(six()));
  ASSERT_TRUE(r);
  EXPECT_TRUE(entry_of(*r, "bx=16 mode=col")->ok());
  EXPECT_DOUBLE_EQ(entry_of(*r, "bx=16 mode=col")->time_ms, 3);
}

TEST(KernelTunerTest, NaNZeroNegativeAndMissingTimesAreFailures) {
  const auto r =
      read_text(cache({record(16, "row", R"("time": NaN)"), record(16, "col", R"("time": 0)"),
                       record(32, "row", R"("time": -1.5)"), record(32, "col", R"("time": Infinity)"),
                       record(64, "row", R"("time": null)"), record(64, "col", R"("time": 7)")}));
  ASSERT_TRUE(r) << r.error().line();
  EXPECT_EQ(r->failures(), 5U);
  for (const Entry& entry : r->entries) {
    EXPECT_EQ(entry.ok(), std::isfinite(entry.time_ms));
    EXPECT_EQ(entry.ok(), std::isfinite(r->cost_of(entry)));
  }
  EXPECT_EQ(r->best(), std::optional(7.0));
}

TEST(KernelTunerTest, AnUnclosedFileLosesNothingAndIsNotTorn) {
  const auto r = read_text(cache(six(), ",\n"));
  ASSERT_TRUE(r) << r.error().line();
  EXPECT_EQ(r->entries.size(), 6U);
  EXPECT_TRUE(r->notes.empty());
}

TEST(KernelTunerTest, ATornRecordIsNamedAndEveryWholeOneKept) {
  const std::string text = cache(six());
  const std::size_t last = text.rfind("\"64,col\"");
  // Cut at every byte of the last record: never more, never less than the five before it.
  for (std::size_t end = last + 1; end < text.rfind("}\n}"); end += 7) {
    const auto r = read_text(std::string_view(text).substr(0, end));
    ASSERT_TRUE(r) << r.error().line();
    EXPECT_EQ(r->entries.size(), 5U) << end;
    EXPECT_TRUE(noted(*r, "torn: line 27, column 1")) << (r->notes.empty() ? "no note" : r->notes.front());
  }
}

TEST(KernelTunerTest, ADamagedRecordInTheMiddleCostsOnlyItself) {
  for (const std::string& damaged :
       {std::string(R"("32,row": {"bx": 32, "mo)"), std::string(R"("32,row": {"bx": 32, "mode": "row")"),
        std::string(R"("32,row": {"bx": 32 "mode": "row"})"),
        std::string("\"32,row\": {\"bx\": \0\0\0}", 22)}) {
    std::vector<std::string> records = six();
    records[2] = damaged;
    const auto r = read_text(cache(records));
    ASSERT_TRUE(r) << r.error().line();
    EXPECT_EQ(r->entries.size(), 5U) << damaged;
    EXPECT_TRUE(noted(*r, "line 24")) << damaged << (r->notes.empty() ? "" : r->notes.front());
    EXPECT_EQ(entry_of(*r, "bx=64 mode=col")->time_ms, 1.25);
  }
}

TEST(KernelTunerTest, ATailOfNulBytesIsNamed) {
  std::string text = cache(six(), ",\n");
  const std::size_t whole = text.size();
  text += std::string(500, '\0');
  const auto r = read_text(text);
  ASSERT_TRUE(r) << r.error().line();
  EXPECT_EQ(r->entries.size(), 6U);
  EXPECT_TRUE(noted(*r, fmt::format("NUL bytes from byte {}", whole)));
}

TEST(KernelTunerTest, OfDuplicatesTheLastCountsAndIsTold) {
  std::vector<std::string> records = six();
  records.push_back(record(16, "row", R"("time": 9)"));
  const auto r = read_text(cache(records));
  ASSERT_TRUE(r);
  EXPECT_EQ(r->entries.size(), 6U);
  EXPECT_DOUBLE_EQ(entry_of(*r, "bx=16 mode=row")->time_ms, 9);
  EXPECT_TRUE(noted(*r, "1 record of a configuration that was recorded before"));
}

TEST(KernelTunerTest, WithoutConstraintsTheSpaceIsWhatWasRecorded) {
  std::vector<std::string> records = six();
  records.erase(records.begin() + 1, records.begin() + 3);
  const auto r = read_text(cache(records));
  ASSERT_TRUE(r);
  EXPECT_EQ(r->space.count(), 4U);
  for (std::size_t i = 0; i < r->entries.size(); ++i) EXPECT_EQ(r->entries[i].config, r->space.at(i));
}

TEST(KernelTunerTest, RepeatsOfAnotherMeasurementAreNoNoise) {
  const auto r = read_text(cache({record(16, "row", R"("time": 4.5, "times": [9.1, 9.2])")}));
  ASSERT_TRUE(r);
  EXPECT_TRUE(r->entries[0].samples_ms.empty());
}

TEST(KernelTunerTest, BooleansAndStringsAreValues) {
  const auto r = read_text(R"({"device_name": "", "kernel_name": "k", "tune_params_keys": ["flag", "kind"],
"tune_params": {"flag": [true, false], "kind": ["a b", "c,d"]}, "cache": {
"True,a b": {"flag": true, "kind": "a b", "time": 1},
"False,c,d": {"flag": false, "kind": "c,d", "time": 2}}})");
  ASSERT_TRUE(r) << r.error().line();
  EXPECT_EQ(r->space.count(), 2U);
  EXPECT_EQ(r->best(), std::optional(1.0));
}

TEST(KernelTunerTest, AnObjectiveOfRatesIsMaximised) {
  std::string text =
      cache({record(16, "row", R"("time": 2, "GFLOP/s": 100)"),
             record(32, "row", R"("time": 1, "GFLOP/s": 50)"), record(64, "row", R"("time": 1)")});
  text.replace(text.find("\"objective\": \"time\""), 19, "\"objective\": \"GFLOP/s\"");
  const auto r = read_text(text);
  ASSERT_TRUE(r) << r.error().line();
  EXPECT_TRUE(r->maximise);
  EXPECT_EQ(r->best(), std::optional(100.0));
  EXPECT_LT(r->cost_of(*entry_of(*r, "bx=16 mode=row")), r->cost_of(*entry_of(*r, "bx=32 mode=row")));
  EXPECT_FALSE(entry_of(*r, "bx=64 mode=row")->ok());
}

TEST(KernelTunerTest, EverythingFailedIsARecordingWithoutABest) {
  const auto r = read_text(cache({record(16, "row", R"("time": "CompilationFailedConfig")"),
                                  record(16, "col", R"("time": "RuntimeFailedConfig")")}));
  ASSERT_TRUE(r);
  EXPECT_EQ(r->failures(), 2U);
  EXPECT_FALSE(r->best());
  EXPECT_EQ(r->best_entry(), nullptr);
}

TEST(KernelTunerTest, OnePointIsASpace) {
  const auto r = read_text(cache({record(16, "row", R"("time": 4.5)")}));
  ASSERT_TRUE(r);
  EXPECT_EQ(r->space.count(), 1U);
  EXPECT_EQ(r->best(), std::optional(4.5));
}

TEST(KernelTunerTest, ACacheWithoutRecordsIsAnErrorThatSaysSo) {
  const auto r = read_text(cache({}));
  ASSERT_FALSE(r);
  EXPECT_NE(r.error().message.find("no whole record"), std::string::npos);
}

TEST(KernelTunerTest, AFileTornBeforeItsFirstRecordIsAnError) {
  const auto r = read_text(std::string_view(k_head).substr(0, 200));
  ASSERT_FALSE(r);
  EXPECT_FALSE(r.error().line().empty());
}

TEST(KernelTunerTest, AConstraintWithAnUnknownNameIsRefusedByName) {
  std::string text = cache(six());
  text.insert(text.find("\"cache\""), R"("restrictions": ["bx < limit"],)");
  const auto r = read_text(text);
  ASSERT_FALSE(r);
  EXPECT_NE(r.error().line().find("limit"), std::string::npos) << r.error().line();
}

TEST(KernelTunerTest, DivisionByZeroMakesAPointIllegalAndIsTold) {
  std::string text = cache(six());
  text.insert(text.find("\"cache\""), R"("restrictions": ["64 % (bx - 16) >= 0"],)");
  const auto r = read_text(text);
  ASSERT_TRUE(r) << r.error().line();
  EXPECT_EQ(r->space.count(), 4U);
  EXPECT_TRUE(noted(*r, "2 records against the constraints"));
  EXPECT_TRUE(noted(*r, "zero"));
}

TEST(KernelTunerTest, ConstraintsThatContradictAreAnError) {
  std::string text = cache(six());
  text.insert(text.find("\"cache\""), R"("restrictions": ["bx > 32", "bx < 32"],)");
  const auto r = read_text(text);
  ASSERT_FALSE(r);
  EXPECT_NE(r.error().line().find("no configuration is legal"), std::string::npos);
}

TEST(KernelTunerTest, GzipIsSeenByItsBytesAndATornOneKeepsItsWholeRecords) {
  std::vector<std::string> records;
  for (int i = 0; i < 400; ++i)
    records.push_back(
        fmt::format(R"("{0}": {{"bx": {0}, "time": {1}, "noise": "{2}"}})", i, 1 + i % 7, i * 2654435761U));
  std::string text = R"({"tune_params_keys": ["bx"], "cache": {)";
  for (const std::string& one : records) text += "\n" + one + ",";
  const std::string packed = *gzip(text + "}}");
  const auto whole = read_text(packed, "x.json.gz");
  ASSERT_TRUE(whole) << whole.error().line();
  EXPECT_EQ(whole->entries.size(), 400U);
  const auto torn = read_text(packed.substr(0, packed.size() / 2), "x.json.gz");
  ASSERT_TRUE(torn) << torn.error().line();
  EXPECT_GT(torn->entries.size(), 50U);
  EXPECT_LT(torn->entries.size(), 400U);
  EXPECT_TRUE(noted(*torn, "gzip stream ends too early"));
}

TEST(KernelTunerTest, RealCachesReadWhole) {
  if (data_folder().empty()) GTEST_SKIP() << "TUNESMITH_DATA names no folder of recorded spaces";
  const auto a = read_recording(data_folder() + "/kernel_tuner_cache/convolution_A100.json.gz");
  ASSERT_TRUE(a) << a.error().line();
  EXPECT_EQ(a->entries.size(), 4362U);
  EXPECT_EQ(a->failures(), 161U);
  EXPECT_DOUBLE_EQ(*a->best(), 0.5536000076681376);
  EXPECT_EQ(a->best_entry()->samples_ms.size(), 32U);
  const auto b = read_recording(data_folder() + "/kernel_tuner_cache/pnpoly_RTX_3090.json.gz");
  ASSERT_TRUE(b) << b.error().line();
  EXPECT_EQ(b->entries.size(), 4092U);
  EXPECT_EQ(b->failures(), 330U);
}

}  // namespace
}  // namespace tunesmith::recording
