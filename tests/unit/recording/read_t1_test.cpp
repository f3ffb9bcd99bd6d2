#include "files.h"
#include "recording/formats.h"
#include "recording/recording.h"

namespace tunesmith::recording {
namespace {

constexpr const char* k_t1 = R"json({
  "General": {"FormatVersion": 1},
  "ConfigurationSpace": {
    "TuningParameters": [
      {"Name": "BX", "Type": "int", "Values": "[16, 32, 64]"},
      {"Name": "PAD", "Type": "bool", "Values": "[True, False]"},
      {"Name": "KIND", "Type": "string", "Values": "('it''s', \"b\")"}
    ],
    "Conditions": [{"Parameters": ["BX", "PAD"], "Expression": "BX % 32 == 0 or not PAD"}]
  },
  "KernelSpecification": {"Language": "CUDA", "KernelName": "twist", "KernelFile": "twist.cu", "GlobalSize": {"X": "1"}, "LocalSize": {"X": "1"}, "Device": {"Name": "Example GPU"}}
})json";

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  return text.replace(text.find(what), what.size(), with);
}

TEST(T1Test, ReadsParametersConditionsAndNames) {
  const Files files;
  const auto problem =
      read_t1(files.put("twist.json", replaced(k_t1, "('it''s', \\\"b\\\")", "['a', \\\"b\\\"]")));
  ASSERT_TRUE(problem) << problem.error().line();
  EXPECT_EQ(problem->name, "twist");
  EXPECT_EQ(problem->kernel, "twist");
  EXPECT_EQ(problem->device, "Example GPU");
  EXPECT_EQ(problem->space.count(), 10U);
  EXPECT_EQ(problem->space.parameters()[1].values[0], space::Value(true));
}

TEST(T1Test, ValuesThatAreNoPlainListAreRefusedWithTheirPlace) {
  const Files files;
  const auto problem =
      read_t1(files.put("t.json", replaced(k_t1, "[16, 32, 64]", "[2**i for i in range(5)]")));
  ASSERT_FALSE(problem);
  EXPECT_NE(problem.error().line().find(":5:"), std::string::npos) << problem.error().line();
}

TEST(T1Test, AConditionWithAnUnknownNameIsRefusedWithItsPlace) {
  const Files files;
  const auto problem = read_t1(files.put(
      "t.json", replaced(replaced(k_t1, "('it''s', \\\"b\\\")", "['a']"), "or not PAD", "or not PAF")));
  ASSERT_FALSE(problem);
  EXPECT_NE(problem.error().line().find("PAF"), std::string::npos);
  EXPECT_NE(problem.error().line().find(":9:"), std::string::npos) << problem.error().line();
}

}  // namespace
}  // namespace tunesmith::recording
