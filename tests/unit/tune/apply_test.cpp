#include "tune/apply.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "base/file.h"
#include "support/judge_samples.h"

namespace tunesmith::tune {
namespace {

Trial trial(const Case& c, std::int64_t id, std::int64_t a, std::vector<double> ratios, bool keep) {
  Trial t;
  t.id = id;
  t.config = {{"A", a}, {"B", 0}};
  t.ended = true;
  t.evidence = test::good_evidence(c);
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    TimingEvidence& timing = t.evidence.shapes[i].timing;
    timing.log_ratio = std::log(ratios[i]);
    timing.comparison = ratios[i] < 1 ? Comparison::faster : Comparison::slower;
  }
  t.decision.valid = true;
  t.decision.keep = keep;
  return t;
}

TEST(ApplyTest, PicksForEachShapeWhatIsFastestThereAcrossIncumbents) {
  const Case c = test::small_case(2);
  // Trial 2 is 0.9 of trial 1 on the first shape (0.45 of the baseline) and slower on the second.
  const std::vector<Trial> trials = {trial(c, 1, 2, {0.5, 0.5}, true), trial(c, 2, 4, {0.9, 1.5}, false),
                                     trial(c, 3, 8, {1.2, 1.1}, false)};
  const auto rows = best_per_shape(c, trials);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].trial.id, 2);
  EXPECT_EQ(rows[1].trial.id, 1);
}

TEST(ApplyTest, WritesHeadersThatACompilerTakesAndThatCarryTheConfiguration) {
  Case c = test::small_case(2);
  c.name = "2 fast*/case";
  const auto made = TempDir::make();
  ASSERT_TRUE(made);
  Trial winner = trial(c, 1, 2, {0.5, 0.5}, true);
  winner.diff = "--- a/x\n+++ b/x\n";
  RunHeader header;
  header.toolchain = "g++ \"12\" */ \n#error";
  const auto paths = apply_artefacts(made->path(), c, header, winner,
                                     {{c.shapes[0], winner}, {c.shapes[1], trial(c, 2, 8, {1, 1}, false)}});
  ASSERT_TRUE(paths) << paths.error().line();
  ASSERT_EQ(paths->size(), 4U);
  const std::string source = made->path() + "/use.c";
  ASSERT_TRUE(write_file_atomic(source, fmt::format("#include \"{0}\"\n#include \"{0}\"\n#include \"{1}\"\n"
                                                    "int main(void) {{ return A == 2 && B == 0 && "
                                                    "_2_fast__case_config_for(16, 2048, 2048)->p_A == 8 &&\n"
                                                    "  !_2_fast__case_config_for(1, 1, 1) ? 0 : 1; }}\n",
                                                    paths->at(0), paths->at(3))));
  EXPECT_EQ(
      std::system(fmt::format("cc -Wall -Werror -o {0}/use {1} && {0}/use", made->path(), source).c_str()),
      0);
  // Again is fine; over a file of the user's it is not.
  EXPECT_TRUE(apply_artefacts(made->path(), c, header, winner, {}));
  ASSERT_TRUE(write_file_atomic(paths->at(0), "int mine;\n"));
  const auto refused = apply_artefacts(made->path(), c, header, winner, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
}

}  // namespace
}  // namespace tunesmith::tune
