#include "app/run_view.h"

#include <gtest/gtest.h>

#include <cmath>

#include "app/apply.h"
#include "support/judge_samples.h"

namespace tunesmith::app {
namespace {

class RunViewTest : public testing::Test {
 protected:
  tune::Trial trial(std::int64_t id, const std::vector<double>& ratios, bool keep) const {
    tune::Trial t;
    t.id = id;
    t.config = {{"A", 1 << (id - 1)}, {"B", 0}};
    t.ended = true;
    t.evidence = test::good_evidence(c, ratios[0], keep ? Comparison::faster : Comparison::slower);
    for (std::size_t i = 0; i < ratios.size(); ++i) {
      auto& timing = t.evidence.shapes[i].timing;
      timing.log_ratio = timing.log_ratio_low = timing.log_ratio_high = std::log(ratios[i]);
      if (ratios[i] == 0) timing = {};
    }
    t.decision.valid = true;
    t.decision.keep = keep;
    return t;
  }
  Case c = test::small_case(2);
};

TEST_F(RunViewTest, ChainsEachTrialsRatioThroughTheIncumbentsItRaced) {
  const std::vector<tune::Trial> trials = {trial(1, {0.5, 0.8}, true), trial(2, {1.2, 0.5}, false)};
  const std::vector<Standing> table = standings(trials);
  ASSERT_EQ(table.size(), 2U);
  EXPECT_NEAR(std::exp(table[1].log_ratio[0]), 0.6, 1e-12);
  EXPECT_NEAR(std::exp(table[1].log_ratio[1]), 0.4, 1e-12);
}

TEST_F(RunViewTest, EachShapeMayHaveAWinnerOfItsOwnButNeverOneThatWasNotTimedThere) {
  // The second trial is slower on the whole and better on the second shape; the third was dropped on the
  // first.
  std::vector<tune::Trial> trials = {trial(1, {0.5, 0.8}, true), trial(2, {1.2, 0.5}, false),
                                     trial(3, {3.0, 0}, false)};
  std::vector<Choice> choices = choose_per_shape(c, trials, trials[0]);
  ASSERT_EQ(choices.size(), 2U);
  EXPECT_EQ(choices[0].trial->id, 1);
  EXPECT_EQ(choices[1].trial->id, 2);
  EXPECT_TRUE(std::isinf(standings(trials)[2].log_ratio[1]));
  // Against an incumbent that was better on the second shape than the winner, "no time" must not read as "as
  // good".
  trials = {trial(1, {0.9, 0.3}, true), trial(2, {0.3, 2.0}, true), trial(3, {3.0, 0}, false)};
  choices = choose_per_shape(c, trials, trials[1]);
  EXPECT_EQ(choices[1].trial->id, 1);
}

TEST_F(RunViewTest, RanksValidTrialsByTheirTimeAgainstTheBaseline) {
  std::vector<tune::Trial> trials = {trial(1, {0.9, 0.9}, true), trial(2, {0.5, 0.5}, true),
                                     trial(3, {0.1, 0.1}, false)};
  trials[2].decision.valid = false;
  const auto order = ranking(trials);
  ASSERT_EQ(order.size(), 2U);
  EXPECT_EQ(order[0]->id, 2);
}

TEST_F(RunViewTest, TellsOnlyWhatDiffersFromTheBaseline) {
  const json::object base = {{"TILE", 4}, {"PACK", true}, {"ORDER", "mnk"}};
  EXPECT_EQ(config_text({{"TILE", 8}, {"PACK", true}, {"ORDER", "nmk"}}, &base), "TILE=8 ORDER=nmk");
  EXPECT_EQ(config_text({{"TILE", 8}, {"PACK", true}}), "TILE=8 PACK=true");
}

}  // namespace
}  // namespace tunesmith::app
