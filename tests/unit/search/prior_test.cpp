#include "search/prior.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tunesmith::search {
namespace {

using space::Config;
using space::Space;
using space::Value;

Space grid() {
  std::vector<Value> values;
  for (std::int64_t i = 0; i < 10; ++i) values.emplace_back(i);
  auto space = Space::create({{"a", values}, {"b", values}, {"c", values}}, {});
  EXPECT_TRUE(space);
  return *space;
}

double here(const Config& config) {
  const auto away = [&](std::size_t p, double from) { return std::pow((config.at[p] - from) / 10, 2); };
  const std::uint32_t rough = (config.at[0] * 7 + config.at[1] * 3 + config.at[2] * 5) % 11;
  return 3 * away(0, 7) + 2 * away(1, 2) + away(2, 5) + 0.02 * rough;
}

Prior prior_of(const Space& space, double (*objective)(const Config&)) {
  Prior prior;
  prior.sources.emplace_back();
  space.for_each([&](const Config& config) {
    prior.sources[0].push_back({config, true, objective(config)});
    return true;
  });
  return prior;
}

double best_after(const Space& space, const Prior& prior, std::uint64_t seed, std::uint64_t budget) {
  const auto strategy = std::move(*make_strategy("auto", space, seed, {budget}, prior));
  double best = std::numeric_limits<double>::infinity();
  for (std::uint64_t i = 0; i < budget; ++i) {
    const Config config = strategy->ask(1).at(0);
    best = std::min(best, here(config));
    strategy->tell({config, true, here(config)});
  }
  return best;
}

double mean_after(const Space& space, const Prior& prior, std::uint64_t budget) {
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) sum += best_after(space, prior, seed, budget) / 10;
  return sum;
}

TEST(PriorModelTest, KnowsWhatWasMeasuredAndRanksTheBestFirst) {
  const Space space = grid();
  Prior prior;
  prior.sources = {{{{{1, 1, 1}}, true, 5}, {{{2, 2, 2}}, true, 3}, {{{3, 3, 3}}, false, 0}},
                   {{{{1, 1, 1}}, true, 100}, {{{2, 2, 2}}, true, 101}}};
  const PriorModel model(space, prior, 1);
  ASSERT_EQ(model.sources(), 2U);
  EXPECT_EQ(model.expected({{1, 1, 1}}), (std::vector<float>{2, 0}));
  EXPECT_EQ(model.expected({{2, 2, 2}}), (std::vector<float>{0, 1}));
  EXPECT_EQ(model.best(1), (std::vector<Config>{{{2, 2, 2}}}));
}

TEST(PriorModelTest, GuessesBetweenThePointsOfASource) {
  const Space space = grid();
  Prior whole = prior_of(space, here);
  Prior part;
  part.sources.emplace_back();
  for (std::size_t i = 0; i < whole.sources[0].size(); i += 3) part.sources[0].push_back(whole.sources[0][i]);
  const PriorModel model(space, part, 1);
  EXPECT_LT(model.expected({{7, 2, 5}})[0] + 0.5F, model.expected({{0, 9, 0}})[0]);
}

TEST(PriorModelTest, PassesOverSourcesWithoutAnyValidPoint) {
  const Space space = grid();
  Prior prior;
  prior.sources = {{{{{1, 1, 1}}, false, 0}}, {{{{1, 1, 99}}, true, 1}}, {}};
  EXPECT_EQ(PriorModel(space, prior, 1).sources(), 0U);
}

TEST(RankAgreementTest, IsOneForTheSameOrderAndNothingForAConstant) {
  EXPECT_NEAR(rank_agreement({1, 2, 3, 9}, {10, 11, 50, 51}), 1, 1e-12);
  EXPECT_NEAR(rank_agreement({1, 2, 3}, {3, 2, 1}), -1, 1e-12);
  EXPECT_EQ(rank_agreement({1, 2, 3}, {5, 5, 5}), 0);
}

TEST(PriorTest, AGoodOneSavesMostEvaluations) {
  const Space space = grid();
  const Prior other_device = prior_of(space, [](const Config& config) {
    return 0.7 * here(config) + 0.05 * static_cast<double>((config.at[0] + config.at[1] * 5) % 7);
  });
  EXPECT_LT(mean_after(space, other_device, 10), 0.6 * mean_after(space, {}, 10));
}

TEST(PriorTest, AMisleadingOneIsDropped) {
  const Space space = grid();
  const Prior upside_down = prior_of(space, [](const Config& config) { return -here(config); });
  // Twice the evaluations, at most, for having listened to it.
  EXPECT_LE(mean_after(space, upside_down, 60), mean_after(space, {}, 30) + 1e-9);
}

}  // namespace
}  // namespace tunesmith::search
