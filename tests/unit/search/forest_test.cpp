#include "search/forest.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tunesmith::search {
namespace {

TEST(ForestTest, LearnsAFunctionOfTwoNumbers) {
  Rng rng(1);
  std::vector<float> rows;
  std::vector<double> targets;
  const auto truth = [](float x, float y) { return x > 0.5F ? 2.0 * y : 1.0; };
  for (int i = 0; i < 400; ++i) {
    const auto x = static_cast<float>(rng.uniform());
    const auto y = static_cast<float>(rng.uniform());
    rows.insert(rows.end(), {x, y, 0.5F});  // the third says nothing
    targets.push_back(truth(x, y));
  }
  Forest forest;
  forest.fit(rows, 3, targets, 40, rng);
  double error = 0;
  for (int i = 0; i < 100; ++i) {
    const auto x = static_cast<float>(rng.uniform());
    const auto y = static_cast<float>(rng.uniform());
    const float row[] = {x, y, 0.5F};
    error += std::fabs(forest.predict(row).mean - truth(x, y)) / 100;
  }
  EXPECT_LT(error, 0.1);
}

TEST(ForestTest, IsSureOfAConstantAndUnsureBetweenPoints) {
  Rng rng(2);
  const std::vector<float> rows = {0, 0.2F, 0.4F, 0.6F, 0.8F, 1};
  Forest flat;
  flat.fit(rows, 1, std::vector<double>(6, 3.0), 20, rng);
  const float middle[] = {0.5F};
  EXPECT_EQ(flat.predict(middle).mean, 3.0);
  EXPECT_EQ(flat.predict(middle).deviation, 0.0);
  Forest step;
  step.fit(rows, 1, std::vector<double>{0, 0, 0, 1, 1, 1}, 50, rng);
  EXPECT_GT(step.predict(middle).deviation, 0.1);
}

TEST(ForestTest, StandsEqualPointsWithUnequalTargets) {
  Rng rng(3);
  Forest forest;
  forest.fit(std::vector<float>{1, 1, 1, 1}, 1, std::vector<double>{0, 1, 2, 3}, 5, rng);
  const float row[] = {1};
  EXPECT_EQ(forest.predict(row).mean, 1.5);
}

TEST(ForestTest, IsTheSameForTheSameSeed) {
  const std::vector<float> rows = {0, 1, 2, 3, 4, 5, 6, 7};
  const std::vector<double> targets = {3, 1, 4, 1, 5, 9, 2, 6};
  Forest a;
  Forest b;
  Rng first(4);
  Rng second(4);
  a.fit(rows, 1, targets, 10, first);
  b.fit(rows, 1, targets, 10, second);
  for (float x = 0; x < 8; x += 0.5F) {
    const float row[] = {x};
    EXPECT_EQ(a.predict(row).mean, b.predict(row).mean);
  }
}

}  // namespace
}  // namespace tunesmith::search
