#include "base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

using namespace tunesmith;

TEST(RandomTest, StreamIsXoshiroSeededBySplitmix) {
  // splitmix64 from 0 gives the state 0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, …; the first output of
  // xoshiro256** is rotl(state[1] * 5, 7) * 9.
  const std::uint64_t second = 0x6e789e6aa1b965f4ULL * 5;
  EXPECT_EQ(Rng(0).next(), ((second << 7) | (second >> 57)) * 9);
}

TEST(RandomTest, SeedFixesTheStreamForEver) {
  Rng rng(42);
  EXPECT_EQ(rng.next(), 1546998764402558742ULL);
  EXPECT_EQ(rng.next(), 6990951692964543102ULL);
  EXPECT_EQ(rng.next(), 12544586762248559009ULL);
}

TEST(RandomTest, BelowStaysBelowAndReachesAll) {
  Rng rng(1);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t drawn = rng.below(7);
    ASSERT_LT(drawn, 7U);
    seen.insert(drawn);
  }
  EXPECT_EQ(seen.size(), 7U);
  EXPECT_EQ(rng.below(0), 0U);
  EXPECT_EQ(rng.below(1), 0U);
  EXPECT_LT(rng.below(1ULL << 63), 1ULL << 63);
}

TEST(RandomTest, UniformAndNormalHaveTheirMoments) {
  Rng rng(2);
  double sum = 0;
  double normal_sum = 0;
  double normal_squares = 0;
  constexpr int k_draws = 100'000;
  for (int i = 0; i < k_draws; ++i) {
    const double u = rng.uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
    const double z = rng.normal();
    ASSERT_TRUE(std::isfinite(z));
    normal_sum += z;
    normal_squares += z * z;
  }
  EXPECT_NEAR(sum / k_draws, 0.5, 0.005);
  EXPECT_NEAR(normal_sum / k_draws, 0, 0.015);
  EXPECT_NEAR(normal_squares / k_draws, 1, 0.02);
}

TEST(RandomTest, ShuffleKeepsAllAndMovesSome) {
  std::vector<int> items(100);
  for (int i = 0; i < 100; ++i) items[static_cast<std::size_t>(i)] = i;
  const std::vector<int> before = items;
  Rng(3).shuffle(items);
  EXPECT_NE(items, before);
  std::sort(items.begin(), items.end());
  EXPECT_EQ(items, before);
  std::vector<int> none;
  Rng(3).shuffle(none);
}

TEST(RandomTest, DerivedSeedsDifferByPurposeAndSeed) {
  EXPECT_NE(derive_seed(1, "inputs"), derive_seed(1, "order"));
  EXPECT_NE(derive_seed(1, "inputs"), derive_seed(2, "inputs"));
  EXPECT_EQ(derive_seed(1, "inputs"), derive_seed(1, "inputs"));
}

TEST(RandomTest, SecretSeedsDiffer) { EXPECT_NE(secret_seed(), secret_seed()); }
