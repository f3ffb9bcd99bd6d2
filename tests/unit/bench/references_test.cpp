#include "bench/references.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/tiny_case.h"

namespace tunesmith::bench {
namespace {

/// A case whose buffers are f64, so that a test may put any numbers into the pool.
struct Problem {
  TinyCase tiny;
  std::optional<Case> c;
  std::optional<InputPool> pool;

  void make() {
    c = tiny.load();
    auto made = InputPool::make(*c, c->shapes, 1, 2);
    ASSERT_TRUE(made) << made.error().line();
    pool.emplace(std::move(*made));
  }
  void put(std::size_t argument, const std::vector<double>& values) {
    auto* to = const_cast<std::byte*>(pool->input(0, 0, argument));
    for (std::size_t i = 0; i < values.size(); ++i) write_element(to, Dtype::f64, i, values[i]);
  }
  std::vector<double> expected(std::size_t argument) { return pool->shapes()[0].sets[0].expected[argument]; }
};

std::string buffers(const std::vector<std::pair<std::string, std::string>>& list) {
  std::string text = "[";
  for (std::size_t i = 0; i < list.size(); ++i) {
    text += std::string(i > 0 ? "," : "") + "{\"name\": \"" + list[i].first +
            "\", \"buffer\": \"f64\", \"shape\": " + list[i].second + ", \"role\": \"" +
            (i + 1 < list.size() ? "in" : "out") + "\"}";
  }
  return text + "]";
}

void expect_near(const std::vector<double>& got, const std::vector<double>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-12) << i;
}

TEST(ReferencesTest, MultipliesMatrices) {
  Problem p;
  p.tiny.set("/arguments", buffers({{"a", R"(["m", "k"])"}, {"b", R"(["k", "n"])"}, {"c", R"(["m", "n"])"}}));
  p.tiny.set("/shapes", R"([{"m": 2, "n": 3, "k": 2}])");
  p.make();
  p.put(0, {1, 2, 3, 4});
  p.put(1, {1, 0, -1, 2, 5, 7});
  ASSERT_TRUE(compute_builtin(*p.c, *p.pool));
  expect_near(p.expected(2), {5, 10, 13, 11, 20, 25});
  EXPECT_GT(p.pool->shapes()[0].output_scale[2], 0);
  EXPECT_EQ(p.pool->shapes()[0].output_scale[0], 0);
}

TEST(ReferencesTest, MultipliesShapesBeyondItsBlocking) {
  Problem p;
  p.tiny.set("/arguments", buffers({{"a", R"(["m", "k"])"}, {"b", R"(["k", "n"])"}, {"c", R"(["m", "n"])"}}));
  p.tiny.set("/shapes", R"([{"m": 7, "n": 1030, "k": 3}])");
  p.make();
  ASSERT_TRUE(compute_builtin(*p.c, *p.pool));
  const auto& out = p.expected(2);
  for (const auto& [i, j] : {std::pair{0, 0}, {3, 511}, {4, 512}, {6, 1029}}) {
    double sum = 0;
    for (int k = 0; k < 3; ++k) {
      sum += read_element(p.pool->input(0, 0, 0), Dtype::f64, static_cast<std::uint64_t>(i * 3 + k)) *
             read_element(p.pool->input(0, 0, 1), Dtype::f64, static_cast<std::uint64_t>(k * 1030 + j));
    }
    EXPECT_NEAR(out[static_cast<std::size_t>(i * 1030 + j)], sum, 1e-12);
  }
}

TEST(ReferencesTest, AttendsWithASoftmaxOfScaledScores) {
  Problem p;
  p.tiny.set("/arguments",
             buffers({{"q", "[1, 2, 4]"}, {"k", "[1, 2, 4]"}, {"v", "[1, 2, 4]"}, {"o", "[1, 2, 4]"}}));
  p.tiny.set("/reference", R"({"builtin": "attention", "bind": {"q": "q", "k": "k", "v": "v", "o": "o"}})");
  p.make();
  p.put(0, {2, 0, 0, 0, 0, 0, 0, 0});  // the second query looks at both keys alike
  p.put(1, {1, 0, 0, 0, 0, 1, 0, 0});  // scores 2 and 0, over sqrt(4): 1 and 0
  p.put(2, {1, 2, 3, 4, 5, 6, 7, 8});
  ASSERT_TRUE(compute_builtin(*p.c, *p.pool));
  const double w = std::exp(1.0) / (std::exp(1.0) + 1);
  expect_near(p.expected(3), {w * 1 + (1 - w) * 5, w * 2 + (1 - w) * 6, w * 3 + (1 - w) * 7,
                              w * 4 + (1 - w) * 8, 3, 4, 5, 6});
}

TEST(ReferencesTest, KeepsHeadsApart) {
  Problem p;
  p.tiny.set("/arguments",
             buffers({{"q", "[2, 1, 1]"}, {"k", "[2, 1, 1]"}, {"v", "[2, 1, 1]"}, {"o", "[2, 1, 1]"}}));
  p.tiny.set("/reference", R"({"builtin": "attention", "bind": {"q": "q", "k": "k", "v": "v", "o": "o"}})");
  p.make();
  p.put(2, {3, 9});
  ASSERT_TRUE(compute_builtin(*p.c, *p.pool));
  expect_near(p.expected(3), {3, 9});
}

TEST(ReferencesTest, SoftmaxOfARowSurvivesLargeNumbers) {
  Problem p;
  p.tiny.set("/arguments", buffers({{"x", "[2, 3]"}, {"y", "[2, 3]"}}));
  p.tiny.set("/reference", R"({"builtin": "softmax_rows", "bind": {"x": "x", "y": "y"}})");
  p.make();
  p.put(0, {1000, 1000, 1000, 0, std::log(2.0), std::log(5.0)});
  ASSERT_TRUE(compute_builtin(*p.c, *p.pool));
  expect_near(p.expected(1), {1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 8, 2.0 / 8, 5.0 / 8});
}

TEST(ReferencesTest, NormalisesALayerWithEpsilon) {
  Problem p;
  p.tiny.set("/arguments", buffers({{"x", "[2, 2]"}, {"gamma", "[2]"}, {"beta", "[2]"}, {"y", "[2, 2]"}}));
  p.tiny.set("/reference",
             R"({"builtin": "layer_norm", "bind": {"x": "x", "gamma": "gamma", "beta": "beta", "y": "y"}})");
  p.make();
  p.put(0, {1, 3, 4, 4});
  p.put(1, {2, 3});
  p.put(2, {10, 20});
  ASSERT_TRUE(compute_builtin(*p.c, *p.pool));
  const double s = 1 / std::sqrt(1 + 1e-5);
  expect_near(p.expected(3), {10 - 2 * s, 20 + 3 * s, 10, 20});  // a constant row gives beta
}

TEST(ReferencesTest, AShapeThatDoesNotFitIsAnErrorThatNamesTheForm) {
  Problem p;
  p.tiny.set("/arguments", buffers({{"a", R"(["m", "m"])"}, {"b", R"(["k", "n"])"}, {"c", R"(["m", "n"])"}}));
  p.tiny.set("/shapes", R"([{"m": 2, "n": 3, "k": 4}])");
  const auto loaded = p.tiny.try_load();
  if (!loaded) return;  // refused even earlier
  p.make();
  const auto status = compute_builtin(*p.c, *p.pool);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().line().find("a[m,k], b[k,n], c[m,n]"), std::string::npos) << status.error().line();
}

TEST(ReferencesTest, AnUnknownNameListsTheKnownOnes) {
  Problem p;
  p.make();
  p.c->reference.builtin = "gemv";
  const auto status = compute_builtin(*p.c, *p.pool);
  ASSERT_FALSE(status);
  for (const auto& builtin : builtin_references()) {
    EXPECT_NE(status.error().line().find(builtin.name), std::string::npos);
  }
}

}  // namespace
}  // namespace tunesmith::bench
