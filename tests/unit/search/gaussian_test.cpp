#include "search/gaussian.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "search/fast_exp.h"

namespace tunesmith::search {
namespace {

using space::Space;
using space::Value;

Space grid() {
  std::vector<Value> values;
  for (std::int64_t i = 0; i < 21; ++i) values.emplace_back(i);
  auto space = Space::create({{"x", values}, {"idle", values}}, {});
  EXPECT_TRUE(space);
  return *space;
}

ModelPoint at(std::uint16_t x, std::uint16_t idle) { return {{x, idle}, {}}; }

double truth(double x) { return std::pow((x - 13) / 10, 2); }

struct Fixture {
  Space space = grid();
  Metric metric{space, {.jump = 0, .alignment = 0, .rank = 1}};
  Gaussian model{metric, 0, {.noise = 0.001}};
  std::vector<ModelPoint> points;
  std::vector<double> targets;

  explicit Fixture(int count) {
    for (int i = 0; i < count; ++i) {
      points.push_back(at(static_cast<std::uint16_t>(i * 3 % 21), static_cast<std::uint16_t>(i * 8 % 21)));
      targets.push_back(truth(points.back().code[0]));
    }
  }
  void observe() {
    std::vector<std::size_t> all(points.size());
    std::iota(all.begin(), all.end(), 0U);
    model.observe(points, targets, all);
  }
};

TEST(FastExpTest, IsExpToFiveDigits) {
  for (double x = 0; x > -80; x -= 0.0137)
    EXPECT_NEAR(static_cast<double>(fast_exp(static_cast<float>(x))) / std::exp(static_cast<float>(x)), 1,
                1e-5);
  EXPECT_EQ(fast_exp(0), 1.0F);
  EXPECT_EQ(fast_exp(-1e30F), fast_exp(-80.0F));
}

TEST(GaussianTest, PredictsASmoothFunctionAndIgnoresAnIdleParameter) {
  Fixture f(25);
  f.observe();
  std::vector<ModelPoint> asked;
  for (std::uint16_t x = 0; x < 21; ++x) asked.push_back(at(x, 10));
  f.model.add_candidates(asked);
  f.model.aim(f.targets);
  for (std::uint16_t x = 0; x < 21; ++x) EXPECT_NEAR(f.model.mean(x), truth(x), 0.15) << x;
}

TEST(GaussianTest, IsSureWhereItHasLookedAndUnsureElsewhere) {
  Fixture f(4);
  f.observe();
  const std::vector<ModelPoint> asked = {f.points[1], at(20, 20)};
  f.model.add_candidates(asked);
  f.model.aim(f.targets);
  EXPECT_NEAR(f.model.mean(0), f.targets[1], 0.1);
  EXPECT_LT(f.model.deviation(0), 0.3 * f.model.deviation(1));
}

TEST(GaussianTest, AddsOneObservationAsIfItHadBeenThereFromTheStart) {
  Fixture whole(12);
  whole.observe();
  Fixture grown(12);
  const ModelPoint last = grown.points.back();
  grown.points.pop_back();
  // The same relevances: learnt from the first six in both.
  std::vector<std::size_t> first(6);
  std::iota(first.begin(), first.end(), 0U);
  whole.model.observe(whole.points, whole.targets, {});
  grown.model.observe(grown.points, grown.targets, {});
  Gaussian one(whole.metric, 0, {});
  Gaussian two(grown.metric, 0, {});
  one.observe(whole.points, whole.targets, first);
  two.observe(grown.points, grown.targets, first);
  const std::vector<ModelPoint> asked = {at(2, 2), at(19, 4), at(11, 20)};
  one.add_candidates(asked);
  two.add_candidates(asked);
  two.add(last);
  one.aim(whole.targets);
  two.aim(whole.targets);
  for (std::size_t c = 0; c < asked.size(); ++c) {
    EXPECT_NEAR(one.mean(c), two.mean(c), 1e-4);
    EXPECT_NEAR(one.deviation(c), two.deviation(c), 1e-3);
  }
}

TEST(GaussianTest, StandsEqualPointsAndConstantTargets) {
  Fixture f(0);
  for (int i = 0; i < 40; ++i) {
    f.points.push_back(at(5, 5));
    f.targets.push_back(2);
  }
  f.observe();
  f.model.add_candidates(std::vector<ModelPoint>{at(5, 5), at(0, 20)});
  f.model.aim(f.targets);
  EXPECT_NEAR(f.model.mean(0), 2, 1e-5);
  EXPECT_NEAR(f.model.mean(1), 2, 1e-5);
  EXPECT_TRUE(std::isfinite(f.model.deviation(1)));
}

TEST(GaussianTest, LearnsHowMuchALinearFeatureCounts) {
  Space space = grid();
  const Metric metric(space);
  Gaussian model(metric, 1, {});
  std::vector<ModelPoint> points;
  std::vector<double> targets;
  for (std::uint16_t i = 0; i < 20; ++i) {
    const float feature = static_cast<float>(i % 5);
    points.push_back({{i, static_cast<std::uint16_t>(i * 7 % 21)}, {feature}});
    targets.push_back(-0.5 * static_cast<double>(feature));
  }
  model.observe(points, targets, {});
  model.add_candidates(std::vector<ModelPoint>{{{20, 3}, {0.0F}}, {{20, 3}, {4.0F}}});
  model.aim(targets);
  EXPECT_NEAR(model.mean(1) - model.mean(0), -2, 0.5);
}

}  // namespace
}  // namespace tunesmith::search
