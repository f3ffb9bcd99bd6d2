#include <fmt/format.h>

#include "files.h"

namespace tunesmith::recording {
namespace {

std::string result(int bx, const std::string& status, const std::string& duration) {
  return fmt::format(R"(    {{
      "ComputationResults": [],
      "Configuration": [
        {{"Name": "BX", "Value": {}, "ValueType": "UnsignedInt"}},
        {{"Name": "FAST", "Value": true, "ValueType": "Bool"}}
      ],
      "KernelName": "twist",
      "Status": "{}",
      "TotalDuration": {},
      "TotalOverhead": 2000000.0,
      "ValidationOverhead": 500.0
    }})",
                     bx, status, duration);
}

std::string file(const std::vector<std::string>& results, const std::string& unit = "Microseconds",
                 const std::string& tail = "\n  ]\n}\n") {
  std::string text = fmt::format(
      "{{\n  \"Metadata\": {{\n    \"Device\": \"Example GPU\",\n    \"TimeUnit\": \"{}\"\n  }},\n  "
      "\"Results\": [\n",
      unit);
  for (std::size_t i = 0; i < results.size(); ++i) text += (i > 0 ? ",\n" : "") + results[i];
  return text + tail;
}

TEST(KttTest, TimesInMicrosecondsBecomeMilliseconds) {
  const auto r =
      read_text(file({result(16, "Ok", "3037.5"), result(32, "ComputationFailed", "0.0"),
                      result(64, "ValidationFailed", "12.0"), result(128, "CompilationFailed", "0.0"),
                      result(256, "DeviceLimitsExceeded", "0.0")}));
  ASSERT_TRUE(r) << r.error().line();
  EXPECT_EQ(r->format, "ktt");
  EXPECT_EQ(r->kernel, "twist");
  EXPECT_EQ(r->device, "Example GPU");
  EXPECT_DOUBLE_EQ(*r->best(), 3.0375);
  EXPECT_DOUBLE_EQ(r->best_entry()->compile_ms, 2000);
  EXPECT_DOUBLE_EQ(r->best_entry()->verify_ms, 0.5);
  EXPECT_EQ(entry_of(*r, "BX=32 FAST=true")->status, Outcome::runtime_failed);
  EXPECT_EQ(entry_of(*r, "BX=64 FAST=true")->status, Outcome::wrong_result);
  EXPECT_EQ(entry_of(*r, "BX=128 FAST=true")->status, Outcome::compile_failed);
  EXPECT_EQ(entry_of(*r, "BX=256 FAST=true")->status, Outcome::refused);
}

TEST(KttTest, EveryUnitIsKnownAndAnotherIsRefused) {
  EXPECT_DOUBLE_EQ(*read_text(file({result(16, "Ok", "2.0")}, "Seconds"))->best(), 2000);
  EXPECT_DOUBLE_EQ(*read_text(file({result(16, "Ok", "2.0")}, "Nanoseconds"))->best(), 2e-6);
  EXPECT_DOUBLE_EQ(*read_text(file({result(16, "Ok", "2.0")}, "Milliseconds"))->best(), 2);
  const auto r = read_text(file({result(16, "Ok", "2.0")}, "Fortnights"));
  ASSERT_FALSE(r);
  EXPECT_NE(r.error().line().find("Fortnights"), std::string::npos);
}

TEST(KttTest, AnOkWithoutATimeIsAFailure) {
  const auto r = read_text(file({result(16, "Ok", "0.0"), result(32, "Ok", "5.0")}));
  ASSERT_TRUE(r);
  EXPECT_EQ(entry_of(*r, "BX=16 FAST=true")->status, Outcome::no_time);
}

TEST(KttTest, ATornFileKeepsItsWholeResults) {
  const std::string text = file({result(16, "Ok", "2.0"), result(32, "Ok", "3.0"), result(64, "Ok", "1.0")});
  const auto r = read_text(std::string_view(text).substr(0, text.size() - 60));
  ASSERT_TRUE(r) << r.error().line();
  EXPECT_EQ(r->entries.size(), 2U);
  EXPECT_TRUE(noted(*r, "torn: line 31, column 5")) << r->notes.front();
}

TEST(KttTest, RealResultsReadWhole) {
  if (data_folder().empty()) GTEST_SKIP() << "TUNESMITH_DATA names no folder of recorded spaces";
  const auto coulomb =
      read_recording(data_folder() + "/ktt_counters/ktt_coulomb_RTX_2080_Ti_counters.json.gz");
  ASSERT_TRUE(coulomb) << coulomb.error().line();
  EXPECT_EQ(coulomb->entries.size(), 210U);
  EXPECT_EQ(coulomb->failures(), 0U);
  const auto pnpoly = read_recording(data_folder() + "/ktt_counters/ktt_pnpoly_RTX_2080_Ti_counters.json.gz");
  ASSERT_TRUE(pnpoly) << pnpoly.error().line();
  EXPECT_EQ(pnpoly->entries.size(), 4092U);
  EXPECT_EQ(pnpoly->failures(), 277U);
}

}  // namespace
}  // namespace tunesmith::recording
