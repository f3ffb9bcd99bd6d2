#include "bench/inputs.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "support/tiny_case.h"

namespace tunesmith::bench {
namespace {

std::uint16_t half_bits(Dtype dtype, double value) {
  std::byte bytes[2];
  write_element(bytes, dtype, 0, value);
  std::uint16_t bits;
  std::memcpy(&bits, bytes, 2);
  return bits;
}

double half_value(Dtype dtype, std::uint16_t bits) {
  std::byte bytes[2];
  std::memcpy(bytes, &bits, 2);
  return read_element(bytes, dtype, 0);
}

TEST(InputsTest, ReadsAndWritesEachTypeUnchanged) {
  const std::vector<std::pair<Dtype, std::vector<double>>> table = {
      {Dtype::f64, {0, -1.1, 1e300, 5e-324}},
      {Dtype::f32, {0, -1.5, 1e30F, static_cast<double>(std::numeric_limits<float>::denorm_min())}},
      {Dtype::f16, {0, 1, -2, 65504, 0x1p-24, -0x1p-14, 1.0009765625}},
      {Dtype::bf16, {0, 1, -2, 0x1p127, 0x1p-133, 1.0078125}},
      {Dtype::i64, {0, -1, 0x1p62}},
      {Dtype::i32, {0, -2147483648.0, 2147483647.0}},
      {Dtype::i16, {-32768, 32767}},
      {Dtype::i8, {-128, 127}},
      {Dtype::u64, {0, 0x1p63}},
      {Dtype::u32, {4294967295.0}},
      {Dtype::u16, {65535}},
      {Dtype::u8, {0, 255}},
  };
  for (const auto& [dtype, values] : table) {
    std::vector<std::byte> bytes(8 * values.size());
    for (std::size_t i = 0; i < values.size(); ++i) write_element(bytes.data(), dtype, i, values[i]);
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(read_element(bytes.data(), dtype, i), values[i]) << name_of(dtype) << " " << i;
    }
  }
}

TEST(InputsTest, EveryHalfPrecisionPatternSurvivesTheRoundTrip) {
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16}) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const double value = half_value(dtype, static_cast<std::uint16_t>(bits));
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(half_value(dtype, half_bits(dtype, value))));
      } else {
        ASSERT_EQ(half_bits(dtype, value), bits) << name_of(dtype);
      }
    }
  }
}

TEST(InputsTest, HalfPrecisionRoundsToNearestEven) {
  EXPECT_EQ(half_bits(Dtype::f16, 1 + 0x1p-11), half_bits(Dtype::f16, 1));  // a tie, down to even
  EXPECT_EQ(half_bits(Dtype::f16, 1 + 3 * 0x1p-11), half_bits(Dtype::f16, 1 + 0x1p-9));  // a tie, up to even
  EXPECT_EQ(half_bits(Dtype::f16, 1 + 0x1.2p-11), half_bits(Dtype::f16, 1 + 0x1p-10));
  EXPECT_EQ(half_bits(Dtype::bf16, 1 + 0x1p-8), half_bits(Dtype::bf16, 1));
  EXPECT_EQ(half_bits(Dtype::bf16, 1 + 3 * 0x1p-8), half_bits(Dtype::bf16, 1 + 0x1p-6));
  EXPECT_EQ(half_bits(Dtype::bf16, -(1 + 0x1.2p-8)), half_bits(Dtype::bf16, -(1 + 0x1p-7)));
}

TEST(InputsTest, ADoubleIsRoundedOnceToHalfPrecision) {
  // By way of f32 these would fall on a tie and round to even, away from the nearest.
  EXPECT_EQ(half_value(Dtype::f16, half_bits(Dtype::f16, 1 + 0x1p-11 + 0x1p-40)), 1 + 0x1p-10);
  EXPECT_EQ(half_value(Dtype::bf16, half_bits(Dtype::bf16, -(1 + 0x1p-8 + 0x1p-40))), -(1 + 0x1p-7));
  EXPECT_EQ(half_value(Dtype::f16, half_bits(Dtype::f16, 1 + 3 * 0x1p-11 - 0x1p-40)), 1 + 0x1p-10);
}

TEST(InputsTest, HalfPrecisionKnowsSubnormalsAndInfinities) {
  EXPECT_EQ(half_bits(Dtype::f16, 0x1p-24), 1);
  EXPECT_EQ(half_bits(Dtype::f16, 0x1p-25), 0);  // a tie, to even
  EXPECT_EQ(half_bits(Dtype::f16, 0x1.8p-25), 1);
  EXPECT_EQ(half_bits(Dtype::f16, 1023.5 * 0x1p-24), 0x400);  // rounds up into the normal numbers
  EXPECT_EQ(half_bits(Dtype::f16, -0.0), 0x8000);
  EXPECT_EQ(half_bits(Dtype::f16, 65504), 0x7BFF);
  EXPECT_EQ(half_bits(Dtype::f16, 65519.99), 0x7BFF);
  EXPECT_EQ(half_bits(Dtype::f16, 65520), 0x7C00);
  EXPECT_EQ(half_bits(Dtype::f16, -1e300), 0xFC00);
  EXPECT_EQ(half_bits(Dtype::bf16, 1e300), 0x7F80);
  EXPECT_EQ(half_bits(Dtype::bf16, 3.4e38), 0x7F80);  // above the largest bf16 and its half step
  EXPECT_TRUE(std::isnan(half_value(Dtype::bf16, half_bits(Dtype::bf16, std::nan("")))));
  EXPECT_TRUE(std::isnan(half_value(Dtype::f16, half_bits(Dtype::f16, std::nan("")))));
}

std::vector<double> filled(Dtype dtype, const Fill& fill, std::uint64_t n = 4000, std::uint64_t seed = 7) {
  std::vector<std::byte> bytes(n * size_of(dtype));
  Rng rng(seed);
  fill_buffer(bytes.data(), dtype, n, fill, rng);
  std::vector<double> out(n);
  for (std::uint64_t i = 0; i < n; ++i) out[i] = read_element(bytes.data(), dtype, i);
  return out;
}

TEST(InputsTest, UniformValuesStayInTheirRangeAndSpreadOverIt) {
  Fill fill;
  fill.low = 2;
  fill.high = 5;
  for (const Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::f16, Dtype::bf16}) {
    const auto values = filled(dtype, fill);
    double sum = 0;
    for (const double v : values) {
      EXPECT_GE(v, 2);
      EXPECT_LE(v, 5);
      sum += v;
    }
    EXPECT_NEAR(sum / 4000, 3.5, 0.1) << name_of(dtype);
  }
}

TEST(InputsTest, AnOddNumberOfElementsWritesNothingBeyond) {
  std::vector<std::byte> bytes(std::size_t{4} * 8, std::byte{0xEE});
  Rng rng(1);
  fill_buffer(bytes.data(), Dtype::f32, 7, Fill{}, rng);
  for (std::size_t i = 28; i < 32; ++i) EXPECT_EQ(bytes[i], std::byte{0xEE});
  fill_buffer(bytes.data(), Dtype::f32, 0, Fill{}, rng);
}

TEST(InputsTest, NormalIntegerAndConstantFillsAreWhatTheySay) {
  Fill normal;
  normal.kind = Fill::Kind::normal;
  normal.mean = 3;
  normal.deviation = 2;
  double sum = 0, squares = 0;
  for (const double v : filled(Dtype::f32, normal)) {
    sum += v;
    squares += (v - 3) * (v - 3);
  }
  EXPECT_NEAR(sum / 4000, 3, 0.2);
  EXPECT_NEAR(std::sqrt(squares / 4000), 2, 0.2);

  Fill integers;
  integers.kind = Fill::Kind::integers;
  integers.low = -2;
  integers.high = 2;
  std::set<double> seen;
  for (const double v : filled(Dtype::i8, integers)) seen.insert(v);
  EXPECT_EQ(seen, (std::set<double>{-2, -1, 0, 1, 2}));  // both ends included
  integers.low = integers.high = 9;
  for (const double v : filled(Dtype::i32, integers, 5)) EXPECT_EQ(v, 9);

  Fill constant;
  constant.kind = Fill::Kind::constant;
  constant.constant = -0.5;
  for (const double v : filled(Dtype::f16, constant, 9)) EXPECT_EQ(v, -0.5);
}

TEST(InputsTest, TheSameSeedFillsTheSame) {
  EXPECT_EQ(filled(Dtype::f32, Fill{}, 100, 3), filled(Dtype::f32, Fill{}, 100, 3));
  EXPECT_NE(filled(Dtype::f32, Fill{}, 100, 3), filled(Dtype::f32, Fill{}, 100, 4));
}

TEST(InputsTest, ABufferEndsAtThePageEndLessAlignment) {
  EXPECT_EQ(end_shift(4096, 1), 0U);
  EXPECT_EQ(end_shift(64, 1), 4032U);
  EXPECT_EQ(end_shift(1, 1), 4032U);  // 63 bytes of slack: the start stays aligned
  EXPECT_EQ(end_shift(4097, 2), 4032U);
  EXPECT_EQ(end_shift(8192, 2), 0U);
  for (std::uint64_t bytes = 1; bytes < 9000; bytes += 7) {
    const std::uint64_t pages = (bytes + 4095) / 4096;
    const std::uint64_t shift = end_shift(bytes, pages);
    EXPECT_EQ(shift % k_alignment, 0U);
    EXPECT_LE(shift + bytes, pages * 4096);
    EXPECT_LT(pages * 4096 - shift - bytes, k_alignment);
  }
}

TEST(InputsTest, LaysOutScalarsAndBuffersOfAShape) {
  TinyCase tiny;
  const Case c = tiny.load();
  const auto layout = lay_out(c, c.shapes[0]);
  ASSERT_TRUE(layout);
  ASSERT_EQ(layout->arguments.size(), 6U);
  EXPECT_TRUE(layout->arguments[0].read_only());
  EXPECT_FALSE(layout->arguments[0].checked());
  EXPECT_TRUE(layout->arguments[2].checked());
  EXPECT_EQ(layout->arguments[0].bytes, std::uint64_t{48} * 48 * 4);
  EXPECT_EQ(layout->arguments[0].pages, 3U);
  EXPECT_EQ(layout->input_pages, 6U);
  EXPECT_EQ(layout->writable_pages, 3U);
  EXPECT_EQ(layout->arguments[3].scalar_bits, 48U);
  EXPECT_EQ(layout->flops, 2.0 * 48 * 48 * 48);
  const auto wide = lay_out(c, c.shapes[0], true);
  ASSERT_TRUE(wide);
  EXPECT_EQ(wide->arguments[0].dtype, Dtype::f64);
  EXPECT_EQ(wide->arguments[0].bytes, std::uint64_t{48} * 48 * 8);
  EXPECT_EQ(wide->arguments[3].dtype, Dtype::i32);
}

bool same_content(const InputPool& p, std::size_t set, const InputPool& q, std::size_t other,
                  std::size_t argument) {
  return std::memcmp(p.input(0, set, argument), q.input(0, other, argument),
                     p.shapes()[0].layout.arguments[argument].bytes) == 0;
}

TEST(InputsTest, TheSameSecretMakesTheSameInputsAndEachSetItsOwn) {
  TinyCase tiny;
  const Case c = tiny.load();
  const auto one = InputPool::make(c, c.shapes, 11, 4);
  const auto two = InputPool::make(c, c.shapes, 11, 4);
  const auto other = InputPool::make(c, c.shapes, 12, 4);
  ASSERT_TRUE(one && two && other);
  for (std::size_t set = 0; set < 4; ++set) {
    EXPECT_TRUE(same_content(*one, set, *two, set, 0));
    EXPECT_FALSE(same_content(*one, set, *other, set, 0));
    EXPECT_EQ(same_content(*one, 0, *one, set, 0), set == 0);
  }
  EXPECT_NE(std::memcmp(one->input(0, 0, 0), one->input(0, 0, 1), 400),
            0);  // two buffers of one set differ as well
}

TEST(InputsTest, InputsEndAtThePageEndAndTheirFileCannotBeWritten) {
  TinyCase tiny;
  tiny.set("/shapes", R"([{"m": 5, "n": 8, "k": 9}])");
  const Case c = tiny.load();
  const auto pool = InputPool::make(c, c.shapes, 1, 2);
  ASSERT_TRUE(pool);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pool->input(0, 0, 0)) % 4096,
            end_shift(std::uint64_t{5} * 9 * 4, 1));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pool->input(0, 1, 1)) % k_alignment, 0U);
  char byte = 0;
  EXPECT_LT(pwrite(pool->read_only_fd(), &byte, 1, 0), 0);
}

TEST(InputsTest, RearrangingMakesNewContentOfTheSameValuesAndCanBeUndone) {
  TinyCase tiny;
  const Case c = tiny.load();
  auto pool = InputPool::make(c, c.shapes, 5, 2);
  ASSERT_TRUE(pool);
  const auto content = [&](std::size_t set) {
    std::vector<double> values;
    const auto& argument = pool->shapes()[0].layout.arguments[0];
    for (std::uint64_t i = 0; i < argument.elements; ++i)
      values.push_back(read_element(pool->input(0, set, 0), argument.dtype, i));
    return values;
  };
  const std::vector<double> first = content(0), other = content(1);
  std::set<std::vector<double>> seen = {first};
  std::vector<double> sorted = first;
  std::sort(sorted.begin(), sorted.end());
  for (int i = 0; i < 5; ++i) {
    pool->rearrange(0, 0);
    std::vector<double> now = content(0);
    seen.insert(now);
    std::sort(now.begin(), now.end());
    EXPECT_EQ(now, sorted);
  }
  EXPECT_GE(seen.size(), 5U);  // a turn may come back to where it was, hardly ever
  EXPECT_EQ(content(1), other);
  pool->restore(0);
  EXPECT_EQ(content(0), first);
  EXPECT_EQ(content(1), other);
}

TEST(InputsTest, WideningKeepsTheValues) {
  TinyCase tiny;
  tiny.write("reference.cpp", "");
  tiny.set("/reference", R"({"source": {"language": "c++", "files": ["reference.cpp"], "entry": "exact"}})");
  tiny.set("/arguments/0/buffer", "\"bf16\"").set("/arguments/1/role", "\"inout\"");
  const Case c = tiny.load();
  const auto pool = InputPool::make(c, c.shapes, 5, 2);
  ASSERT_TRUE(pool);
  const auto wide = InputPool::widen(c, *pool);
  ASSERT_TRUE(wide);
  for (std::size_t argument = 0; argument < 2; ++argument) {
    for (std::uint64_t i = 0; i < std::uint64_t{48} * 48; ++i) {
      ASSERT_EQ(
          read_element(wide->input(0, 1, argument), Dtype::f64, i),
          read_element(pool->input(0, 1, argument), pool->shapes()[0].layout.arguments[argument].dtype, i));
    }
  }
}

}  // namespace
}  // namespace tunesmith::bench
