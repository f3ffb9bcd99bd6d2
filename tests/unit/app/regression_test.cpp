#include "app/regression.h"

#include <gtest/gtest.h>

namespace tunesmith::app {
namespace {

json::object result(double latency_ms) {
  return json::object{{"case", "c"}, {"shape", "s"}, {"dtype", "f32"}, {"latency_ms", latency_ms}};
}

TEST(RegressionTest, SlowerThanAllowedIsARegression) {
  const Regression out = compare_results(result(1.2), result(1.0), 5);
  EXPECT_TRUE(out.comparable);
  EXPECT_TRUE(out.regressed);
  EXPECT_NEAR(out.slower_percent, 20, 1e-9);
}

TEST(RegressionTest, FasterAndALittleSlowerAreNone) {
  EXPECT_FALSE(compare_results(result(0.5), result(1.0), 5).regressed);
  EXPECT_FALSE(compare_results(result(1.04), result(1.0), 5).regressed);
}

TEST(RegressionTest, AnotherCaseIsNotCompared) {
  json::object other = result(1);
  other["case"] = "d";
  EXPECT_FALSE(compare_results(result(1), other, 5).comparable);
}

TEST(RegressionTest, ALatencyThatIsNoTimeIsNotCompared) {
  EXPECT_FALSE(compare_results(result(0), result(1), 5).comparable);
  EXPECT_FALSE(compare_results(result(-1), result(1), 5).comparable);
  json::object text = result(1);
  text["latency_ms"] = "1";
  EXPECT_FALSE(compare_results(text, result(1), 5).comparable);
}

// The machine ran 30 % slower that day, and the kernel did not: paired speed-ups decide.
TEST(RegressionTest, PairedSpeedUpsDecideWhereBothHaveThem) {
  json::object now = result(1.3);
  json::object base = result(1.0);
  for (json::object* one : {&now, &base}) {
    (*one)["baseline"] = "OpenBLAS";
    (*one)["machine"] = "m";
  }
  now["speedup"] = 2.0;
  base["speedup"] = 2.02;
  const Regression out = compare_results(now, base, 5);
  EXPECT_EQ(out.figure, "speedup");
  EXPECT_FALSE(out.regressed);
  now["machine"] = "another";
  EXPECT_EQ(compare_results(now, base, 5).figure, "latency_ms");
}

}  // namespace
}  // namespace tunesmith::app
