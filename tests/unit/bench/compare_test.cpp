#include "bench/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/random.h"

namespace tunesmith::bench {
namespace {

constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();
constexpr double k_inf = std::numeric_limits<double>::infinity();
constexpr std::uint64_t k_seed = 0x1234567;

CompareRules within(double absolute, double relative = 0) {
  CompareRules rules;
  rules.tolerance.absolute = absolute;
  rules.tolerance.relative = relative;
  return rules;
}

std::vector<std::byte> encode(Dtype dtype, const std::vector<double>& values) {
  std::vector<std::byte> bytes(values.size() * size_of(dtype));
  for (std::size_t i = 0; i < values.size(); ++i) write_element(bytes.data(), dtype, i, values[i]);
  return bytes;
}

Difference compared(Dtype dtype, const std::vector<double>& got, const std::vector<double>& want,
                    const CompareRules& rules, std::int64_t row = 4) {
  return compare(encode(dtype, got).data(), dtype, want, row, rules, k_seed);
}

class CompareFloatTest : public testing::TestWithParam<Dtype> {};
INSTANTIATE_TEST_SUITE_P(Types, CompareFloatTest,
                         testing::Values(Dtype::f64, Dtype::f32, Dtype::f16, Dtype::bf16),
                         [](const auto& type) { return std::string(name_of(type.param)); });

TEST_P(CompareFloatTest, AcceptsWhatLiesWithinTheTolerance) {
  const Difference d = compared(GetParam(), {1, 2, 3.5, -4}, {1, 2, 3, -4}, within(0.5));
  EXPECT_EQ(d.reason, Reason::none);
  EXPECT_EQ(d.bad, 0);
  EXPECT_EQ(d.max_abs_error, 0.5);
  EXPECT_NEAR(d.max_rel_error, 0.5 / 3, 1e-12);
}

TEST_P(CompareFloatTest, NamesTheFirstElementBeyondTheTolerance) {
  const Difference d = compared(GetParam(), {1, 2, 4, -8}, {1, 2, 3, -4}, within(0.5));
  EXPECT_EQ(d.reason, Reason::wrong_result);
  EXPECT_EQ(d.bad, 2);
  EXPECT_EQ(d.first_bad, 2);
  EXPECT_EQ(d.got, 4);
  EXPECT_EQ(d.want, 3);
  EXPECT_EQ(d.max_abs_error, 4);
}

TEST_P(CompareFloatTest, ARelativeToleranceGrowsWithTheExpectedValue) {
  EXPECT_EQ(compared(GetParam(), {101}, {100}, within(0, 0.02)).reason, Reason::none);
  EXPECT_EQ(compared(GetParam(), {2}, {1}, within(0, 0.02)).reason, Reason::wrong_result);
  EXPECT_EQ(compared(GetParam(), {1}, {0}, within(0, 0.5)).reason,
            Reason::wrong_result);  // nothing is relative to zero
}

TEST_P(CompareFloatTest, ANanWhereANumberBelongsNeverPasses) {
  const Difference d = compared(GetParam(), {1, k_nan, 3, 4}, {1, 2, 3, 4}, within(1e9, 1e9));
  EXPECT_EQ(d.reason, Reason::nan_mismatch);
  EXPECT_EQ(d.bad, 1);
  EXPECT_EQ(d.first_bad, 1);
  EXPECT_EQ(compared(GetParam(), {1, 2, 3, 4}, {1, k_nan, 3, 4}, within(1e9)).reason, Reason::nan_mismatch);
}

TEST_P(CompareFloatTest, NanAndInfinityAgreeInPlaceAndSign) {
  EXPECT_EQ(compared(GetParam(), {k_nan, k_inf, -k_inf, 1}, {k_nan, k_inf, -k_inf, 1}, within(0.1)).reason,
            Reason::none);
  EXPECT_EQ(compared(GetParam(), {k_inf}, {-k_inf}, within(0.1)).reason, Reason::nan_mismatch);
  EXPECT_EQ(compared(GetParam(), {k_inf}, {1}, within(k_inf)).reason,
            Reason::none);  // only an infinite tolerance lets it pass
  EXPECT_EQ(compared(GetParam(), {k_inf}, {1}, within(1e300)).reason, Reason::nan_mismatch);
  EXPECT_EQ(compared(GetParam(), {1}, {k_inf}, within(1e300)).reason, Reason::nan_mismatch);
  EXPECT_EQ(compared(GetParam(), {k_nan}, {k_inf}, within(1)).reason, Reason::nan_mismatch);
}

TEST_P(CompareFloatTest, WithTheNanRuleOffANanPassesAndAWrongNumberDoesNot) {
  CompareRules careless = within(0.1);
  careless.nan_rule = false;
  EXPECT_EQ(compared(GetParam(), {k_nan, 2}, {1, 2}, careless).reason, Reason::none);
  EXPECT_EQ(compared(GetParam(), {k_nan, 3}, {1, 2}, careless).reason, Reason::wrong_result);
}

TEST_P(CompareFloatTest, CountsThePoisonThatWasLeft) {
  std::vector<double> want(64, 1.0);
  std::vector<std::byte> got(64 * size_of(GetParam()));
  poison(got.data(), GetParam(), got.size(), k_seed);
  for (std::uint64_t i = 0; i < 60; ++i) write_element(got.data(), GetParam(), i, 1.0);
  const Difference d = compare(got.data(), GetParam(), want, 8, within(0.1), k_seed);
  EXPECT_EQ(d.reason, Reason::stale_output);
  EXPECT_EQ(d.poisoned, 4);
  EXPECT_EQ(compare(got.data(), GetParam(), want, 8, within(0.1), k_seed + 1).reason,
            Reason::nan_mismatch);  // another call's
}

TEST(CompareTest, IntegersOfEachWidthAreComparedExactly) {
  for (const Dtype dtype :
       {Dtype::i64, Dtype::i32, Dtype::i16, Dtype::i8, Dtype::u64, Dtype::u32, Dtype::u16, Dtype::u8}) {
    CompareRules exact = within(1e9);
    exact.tolerance.bit_exact = true;
    EXPECT_EQ(compared(dtype, {1, 2, 100}, {1, 2, 100}, exact).reason, Reason::none) << name_of(dtype);
    const Difference d = compared(dtype, {1, 2, 101}, {1, 2, 100}, exact);
    EXPECT_EQ(d.reason, Reason::wrong_result) << name_of(dtype);
    EXPECT_EQ(d.first_bad, 2);
    EXPECT_EQ(d.max_abs_error, 1);
    EXPECT_EQ(compared(dtype, {1, 2, 101}, {1, 2, 100}, within(1)).reason, Reason::none) << name_of(dtype);
  }
  EXPECT_EQ(compared(Dtype::i8, {-128}, {127}, within(254)).reason, Reason::wrong_result);
  EXPECT_EQ(compared(Dtype::u32, {4294967295.0}, {-1}, within(1)).reason, Reason::wrong_result);
}

TEST(CompareTest, SingleBytesThatLookLikePoisonByChanceAreOnlyWrong) {
  std::vector<std::byte> got(256);
  poison(got.data(), Dtype::u8, got.size(), k_seed);
  const double pattern = read_element(got.data(), Dtype::u8, 0);
  std::vector<double> want(256, pattern == 7 ? 8 : 7);
  EXPECT_EQ(compare(got.data(), Dtype::u8, want, 16, within(0), k_seed).reason, Reason::stale_output);
  write_element(got.data(), Dtype::u8, 9, want[9]);
  EXPECT_EQ(compare(got.data(), Dtype::u8, want, 16, within(0), k_seed).reason, Reason::wrong_result);
}

TEST(CompareTest, OneWrongTileIsSeenHoweverSmallItsShare) {
  // 96 x 96, one 32 x 32 tile shifted by a tenth of the tolerance's hundredfold: the whole is right to 1e-3.
  std::vector<double> want(96 * 96, 100.0);
  std::vector<double> got = want;
  for (std::size_t r = 32; r < 64; ++r) {
    for (std::size_t j = 64; j < 96; ++j) got[r * 96 + j] += 2;
  }
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    const Difference d = compared(dtype, got, want, within(1), 96);
    EXPECT_EQ(d.reason, Reason::wrong_result);
    EXPECT_EQ(d.bad, 32 * 32);
    EXPECT_NEAR(d.worst_tile, 2, 1e-9);
    EXPECT_NEAR(d.worst_row, 2.0 / 3, 1e-9);
    CompareRules careless = within(1);
    careless.every_element = false;
    EXPECT_EQ(compared(dtype, got, want, careless, 96).reason,
              Reason::none);  // as a global similarity would have it
  }
}

TEST(CompareTest, TheGlobalSimilarityStillSeesAWhollyWrongResult) {
  CompareRules careless = within(1e-3);
  careless.every_element = false;
  EXPECT_EQ(compared(Dtype::f32, {0, 0, 0, 0}, {1, 2, 3, 4}, careless).reason, Reason::wrong_result);
}

TEST(CompareTest, TheErrorBudgetNarrowsTheTolerance) {
  CompareRules rules = within(1e-2);
  EXPECT_EQ(compared(Dtype::f32, {1.001}, {1}, rules).reason, Reason::none);
  rules.budget = 1e-4;
  EXPECT_EQ(compared(Dtype::f32, {1.001}, {1}, rules).reason, Reason::wrong_result);
  rules.budget = 1;  // never widens it
  EXPECT_EQ(compared(Dtype::f32, {1.1}, {1}, rules).reason, Reason::wrong_result);
}

TEST(CompareTest, FindsASingleWrongElementWhereverItStands) {
  Rng rng(5);
  for (const std::int64_t row : {1, 3, 31, 32, 33, 100}) {
    const std::size_t n = 200;
    std::vector<double> want(n);
    for (double& w : want) w = static_cast<float>(rng.normal());
    for (std::size_t at = 0; at < n; at += 11) {
      std::vector<double> got = want;
      got[at] += 1;
      const Difference d = compared(Dtype::f32, got, want, within(1e-3), row);
      ASSERT_EQ(d.bad, 1) << row << " " << at;
      ASSERT_EQ(d.first_bad, static_cast<std::int64_t>(at));
    }
  }
}

TEST(CompareTest, TheFastPathGivesTheFiguresOfTheSlowOne) {
  Rng rng(6);
  std::vector<double> want(1000), got(1000);
  for (std::size_t i = 0; i < want.size(); ++i) {
    want[i] = rng.normal();
    got[i] = static_cast<float>(want[i] + 1e-3 * rng.normal());
  }
  const Difference fast = compared(Dtype::f32, got, want, within(1), 37);
  const Difference slow = compared(Dtype::f64, got, want, within(1), 37);
  EXPECT_EQ(fast.reason, Reason::none);
  EXPECT_NEAR(fast.max_abs_error, slow.max_abs_error, 1e-12);
  EXPECT_NEAR(fast.max_rel_error, slow.max_rel_error, 1e-9);
  EXPECT_NEAR(fast.worst_row, slow.worst_row, 1e-12);
  EXPECT_NEAR(fast.worst_tile, slow.worst_tile, 1e-12);
}

TEST(CompareTest, PoisonIsANanThatNoComputationGives) {
  for (std::uint64_t seed = 1; seed < 200; ++seed) {
    for (const Dtype dtype : {Dtype::f64, Dtype::f32, Dtype::f16, Dtype::bf16}) {
      std::byte bytes[8];
      poison(bytes, dtype, size_of(dtype), seed);
      EXPECT_TRUE(std::isnan(read_element(bytes, dtype, 0))) << name_of(dtype);
      std::byte plain[8];
      write_element(plain, dtype, 0, k_nan);
      EXPECT_NE(std::memcmp(bytes, plain, size_of(dtype)), 0) << "the NaN of 0/0 must not look untouched";
    }
    EXPECT_NE(poison_word(Dtype::i8, seed) & 0xFF, 0U);
  }
}

TEST(CompareTest, LargeWorkspacesGetALineAPage) {
  std::vector<std::byte> bytes(3 * 4096, std::byte{0});
  poison(bytes.data(), Dtype::u64, bytes.size(), k_seed, 4096);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    if (at % 4096 < 64) continue;
    ASSERT_EQ(bytes[at], std::byte{0});
  }
  EXPECT_NE(bytes[4096], std::byte{0});
  poison(bytes.data(), Dtype::u64, 13, k_seed);  // a length that is no multiple of the pattern
  EXPECT_EQ(bytes[64], std::byte{0});
}

}  // namespace
}  // namespace tunesmith::bench
