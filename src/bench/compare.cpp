#include "bench/compare.h"

#include <cmath>
#include <limits>
#include <type_traits>

namespace tunesmith::bench {

namespace {

template <class T>
T element(const std::byte* from, std::size_t i) {
  T value;
  std::memcpy(&value, from + i * sizeof(T), sizeof(T));
  return value;
}

template <class T>
double as_double(const std::byte* got, Dtype, std::size_t i) {
  return static_cast<double>(element<T>(got, i));
}

/// f16 and bf16 go through the slow reader.
struct Half {};
template <>
double as_double<Half>(const std::byte* got, Dtype dtype, std::size_t i) {
  return read_element(got, dtype, i);
}

constexpr std::size_t k_tile = 32;

struct Accumulator {
  double error = 0, limit = 0;
  [[nodiscard]] double ratio() const {
    if (error == 0) return 0;
    return limit > 0 ? error / limit : std::numeric_limits<double>::infinity();
  }
};

/// Sums over a few elements; NaN shows as `bad`.
struct Chunk {
  double error = 0, limit = 0, greatest = 0, greatest_relative = 0, squared_error = 0, squared_want = 0;
  bool bad = false;
};

#if defined(__x86_64__) && !defined(TUNESMITH_SANITIZED)
#define TS_CLONES                                             \
  __attribute__((target_clones("default", "avx2", "avx512f"), \
                 optimize("O3", "no-trapping-math", "associative-math", "no-signed-zeros")))
#else
#define TS_CLONES
#endif

/// The common case, f32, at the speed of the vector units: every timed call of every candidate passes through
/// here.
TS_CLONES void chunk_f32(const float* got, const double* want, std::size_t n, double absolute,
                         double relative, Chunk* out) {
  double error_sum = 0, limit_sum = 0, greatest = 0, greatest_relative = 0, squared_error = 0,
         squared_want = 0;
  int bad = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double magnitude = want[i] < 0 ? -want[i] : want[i];
    const double difference = got[i] - want[i];
    const double error = difference < 0 ? -difference : difference;
    const double limit = absolute + relative * magnitude;
    bad += error <= limit ? 0 : 1;
    const double ratio = error / (magnitude > 1e-30 ? magnitude : 1e-30);
    greatest = error > greatest ? error : greatest;
    greatest_relative = ratio > greatest_relative ? ratio : greatest_relative;
    error_sum += error;
    limit_sum += limit;
    squared_error += error * error;
    squared_want += want[i] * want[i];
  }
  *out = Chunk{error_sum, limit_sum, greatest, greatest_relative, squared_error, squared_want, bad != 0};
}

/// Any type, and every chunk in which something is wrong: only here can a NaN or an infinity be.
template <class T>
Chunk chunk_slow(const std::byte* got, Dtype dtype, const double* want, std::size_t start, std::size_t n,
                 double absolute, double relative, bool nan_rule, bool& mask_differs, Difference& out) {
  Chunk chunk;
  for (std::size_t i = 0; i < n; ++i) {
    const double g = as_double<T>(got, dtype, start + i);
    const double w = want[start + i];
    const double limit = absolute + relative * std::fabs(w);
    double error = std::fabs(g - w);
    bool bad = !(error <= limit);
    if (bad && (std::isnan(g) || std::isnan(w) || std::isinf(g) || std::isinf(w))) {
      const bool agree = (std::isnan(g) && std::isnan(w)) || g == w;
      // With the rule off: "error > limit fails", as a careless harness writes it.
      const bool overlooked = !nan_rule && std::isnan(g - w);
      bad = !agree && !overlooked;
      mask_differs = mask_differs || bad;
      error = bad ? std::numeric_limits<double>::infinity() : 0;
    }
    if (bad) {
      ++out.bad;
      if (out.first_bad < 0) {
        out.first_bad = static_cast<std::int64_t>(start + i);
        out.got = g;
        out.want = w;
      }
    }
    chunk.error += error;
    chunk.limit += limit;
    chunk.greatest = std::max(chunk.greatest, error);
    chunk.greatest_relative = std::max(chunk.greatest_relative, error / std::max(std::fabs(w), 1e-30));
    chunk.squared_error += error * error;
    chunk.squared_want += w * w;
  }
  return chunk;
}

template <class T>
Difference compare_as(const std::byte* got, Dtype dtype, std::span<const double> want, std::int64_t row,
                      const CompareRules& rules) {
  Difference out;
  const double absolute = rules.tolerance.bit_exact ? 0 : std::min(rules.tolerance.absolute, rules.budget);
  const double relative = rules.tolerance.bit_exact ? 0 : rules.tolerance.relative;
  const auto columns = static_cast<std::size_t>(std::max<std::int64_t>(1, row));
  std::vector<Accumulator> tile_row((columns + k_tile - 1) / k_tile);
  bool mask_differs = false;
  double squared_error = 0, squared_want = 0;
  for (std::size_t start = 0, r = 0; start < want.size(); start += columns, ++r) {
    Accumulator row_sum;
    const std::size_t end = std::min(want.size(), start + columns);
    for (std::size_t i = start, tile = 0; i < end; i += k_tile, ++tile) {
      const std::size_t n = std::min<std::size_t>(k_tile, end - i);
      Chunk chunk;
      chunk.bad = true;
      if constexpr (std::is_same_v<T, float>) {
        chunk_f32(reinterpret_cast<const float*>(got) + i, want.data() + i, n, absolute, relative, &chunk);
      }
      if (chunk.bad)
        chunk = chunk_slow<T>(got, dtype, want.data(), i, n, absolute, relative, rules.nan_rule, mask_differs,
                              out);
      out.max_abs_error = std::max(out.max_abs_error, chunk.greatest);
      out.max_rel_error = std::max(out.max_rel_error, chunk.greatest_relative);
      row_sum.error += chunk.error;
      row_sum.limit += chunk.limit;
      tile_row[tile].error += chunk.error;
      tile_row[tile].limit += chunk.limit;
      squared_error += chunk.squared_error;
      squared_want += chunk.squared_want;
    }
    out.worst_row = std::max(out.worst_row, row_sum.ratio());
    if ((r + 1) % k_tile == 0 || end == want.size()) {
      for (Accumulator& tile : tile_row) {
        out.worst_tile = std::max(out.worst_tile, tile.ratio());
        tile = {};
      }
    }
  }
  if (!rules.every_element && squared_error <= 1e-3 * squared_want) return out;
  if (mask_differs) {
    out.reason = Reason::nan_mismatch;
  } else if (out.bad > 0) {
    out.reason = Reason::wrong_result;
  }
  return out;
}

template <class T>
void count_poison(const std::byte* got, std::size_t elements, std::uint64_t word, Difference& out) {
  const auto pattern = static_cast<T>(word);
  for (std::size_t i = 0; i < elements; ++i) {
    if (element<T>(got, i) == pattern) ++out.poisoned;
  }
}

}  // namespace

std::uint64_t poison_word(Dtype dtype, std::uint64_t seed) {
  std::uint64_t bits = seed * 0x9E3779B97F4A7C15ULL;
  bits ^= bits >> 29;
  switch (dtype) {
    case Dtype::f64:
      return 0x7FF8000000000000ULL | (bits & 0x0003FFFFFFFFFFFFULL) | 1;
    case Dtype::f32:
      return 0x7FC00000U | (bits & 0x001FFFFFU) | 1;
    case Dtype::f16:
      return 0x7E00U | (bits & 0xFFU) | 1;
    case Dtype::bf16:
      return 0x7FC0U | (bits & 0x1FU) | 1;
    default:
      return bits | 1;
  }
}

void poison(std::byte* to, Dtype dtype, std::uint64_t bytes, std::uint64_t seed, std::uint64_t whole_bytes) {
  const std::size_t width = size_of(dtype);
  const std::uint64_t word = poison_word(dtype, seed);
  // One 64-byte line of the pattern, then copies of it.
  std::array<std::byte, 64> line{};
  for (std::size_t i = 0; i < line.size(); i += width) std::memcpy(line.data() + i, &word, width);
  const std::uint64_t step = bytes > whole_bytes ? 4096 : 64;
  for (std::uint64_t at = 0; at < bytes; at += step) {
    std::memcpy(to + at, line.data(), std::min<std::uint64_t>(64, bytes - at));
  }
}

Difference compare(const std::byte* got, Dtype dtype, std::span<const double> want, std::int64_t row,
                   const CompareRules& rules, std::uint64_t poison_seed) {
  Difference out;
  switch (dtype) {
    case Dtype::f64:
      out = compare_as<double>(got, dtype, want, row, rules);
      break;
    case Dtype::f32:
      out = compare_as<float>(got, dtype, want, row, rules);
      break;
    case Dtype::f16:
    case Dtype::bf16:
      out = compare_as<Half>(got, dtype, want, row, rules);
      break;
    case Dtype::i64:
      out = compare_as<std::int64_t>(got, dtype, want, row, rules);
      break;
    case Dtype::i32:
      out = compare_as<std::int32_t>(got, dtype, want, row, rules);
      break;
    case Dtype::i16:
      out = compare_as<std::int16_t>(got, dtype, want, row, rules);
      break;
    case Dtype::i8:
      out = compare_as<std::int8_t>(got, dtype, want, row, rules);
      break;
    case Dtype::u64:
      out = compare_as<std::uint64_t>(got, dtype, want, row, rules);
      break;
    case Dtype::u32:
      out = compare_as<std::uint32_t>(got, dtype, want, row, rules);
      break;
    case Dtype::u16:
      out = compare_as<std::uint16_t>(got, dtype, want, row, rules);
      break;
    case Dtype::u8:
      out = compare_as<std::uint8_t>(got, dtype, want, row, rules);
      break;
  }
  if (out.reason == Reason::none) return out;
  const std::uint64_t word = poison_word(dtype, poison_seed);
  switch (size_of(dtype)) {
    case 8:
      count_poison<std::uint64_t>(got, want.size(), word, out);
      break;
    case 4:
      count_poison<std::uint32_t>(got, want.size(), word, out);
      break;
    case 2:
      count_poison<std::uint16_t>(got, want.size(), word, out);
      break;
    default:
      count_poison<std::uint8_t>(got, want.size(), word, out);
      break;
  }
  // One-byte patterns occur by chance, so only a wholly untouched buffer says "never written" there.
  const auto all = static_cast<std::int64_t>(want.size());
  if (out.poisoned > 0 && (size_of(dtype) > 1 || out.poisoned == all)) out.reason = Reason::stale_output;
  return out;
}

}  // namespace tunesmith::bench
