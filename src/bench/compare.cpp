#include "bench/compare.h"

#include <cmath>
#include <limits>

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

constexpr std::int64_t k_tile = 32;

struct Accumulator {
  double error = 0, limit = 0;
  [[nodiscard]] double ratio() const {
    if (error == 0) return 0;
    return limit > 0 ? error / limit : std::numeric_limits<double>::infinity();
  }
};

template <class T>
Difference compare_as(const std::byte* got, Dtype dtype, std::span<const double> want, std::int64_t row,
                      const CompareRules& rules) {
  Difference out;
  const double absolute = rules.tolerance.bit_exact ? 0 : std::min(rules.tolerance.absolute, rules.budget);
  const double relative = rules.tolerance.bit_exact ? 0 : rules.tolerance.relative;
  const auto columns = static_cast<std::size_t>(std::max<std::int64_t>(1, row));
  const std::size_t tiles = (columns + k_tile - 1) / k_tile;
  std::vector<Accumulator> tile_row(tiles);
  bool mask_differs = false;
  double squared_error = 0, squared_want = 0;
  for (std::size_t start = 0, r = 0; start < want.size(); start += columns, ++r) {
    Accumulator row_sum;
    const std::size_t end = std::min(want.size(), start + columns);
    for (std::size_t i = start; i < end; ++i) {
      const double g = as_double<T>(got, dtype, i);
      const double w = want[i];
      const double limit = absolute + relative * std::fabs(w);
      double error = std::fabs(g - w);
      bool bad = !(error <= limit);
      if (bad) {
        // Slow path: only here can a NaN or an infinity be.
        if (std::isnan(g) || std::isnan(w) || std::isinf(g) || std::isinf(w)) {
          const bool agree = (std::isnan(g) && std::isnan(w)) || g == w;
          if (agree) {
            error = 0;
            bad = false;
          } else {
            mask_differs = true;
            error = std::numeric_limits<double>::infinity();
            if (!rules.nan_rule && std::isnan(g - w)) {  // the comparison as a careless harness writes it
              bad = false;
              mask_differs = false;
              error = 0;
            }
          }
        }
        if (bad) {
          ++out.bad;
          if (out.first_bad < 0) {
            out.first_bad = static_cast<std::int64_t>(i);
            out.got = g;
            out.want = w;
          }
        }
      }
      out.max_abs_error = std::max(out.max_abs_error, error);
      if (error > 0) out.max_rel_error = std::max(out.max_rel_error, error / std::max(std::fabs(w), 1e-30));
      row_sum.error += error;
      row_sum.limit += limit;
      Accumulator& tile = tile_row[(i - start) / k_tile];
      tile.error += error;
      tile.limit += limit;
      squared_error += error * error;
      squared_want += w * w;
    }
    out.worst_row = std::max(out.worst_row, row_sum.ratio());
    if ((r + 1) % k_tile == 0 || end == want.size()) {
      for (Accumulator& tile : tile_row) {
        out.worst_tile = std::max(out.worst_tile, tile.ratio());
        tile = {};
      }
    }
  }
  if (!rules.every_element) {
    const bool similar = squared_error <= 1e-3 * squared_want;
    if (similar) return out;
  }
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
    case Dtype::f64: return 0x7FF8000000000000ULL | (bits & 0x0003FFFFFFFFFFFFULL) | 1;
    case Dtype::f32: return 0x7FC00000U | (bits & 0x001FFFFFU) | 1;
    case Dtype::f16: return 0x7E00U | (bits & 0xFFU) | 1;
    case Dtype::bf16: return 0x7FC0U | (bits & 0x1FU) | 1;
    default: return bits | 1;
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
    case Dtype::f64: out = compare_as<double>(got, dtype, want, row, rules); break;
    case Dtype::f32: out = compare_as<float>(got, dtype, want, row, rules); break;
    case Dtype::f16:
    case Dtype::bf16: out = compare_as<Half>(got, dtype, want, row, rules); break;
    case Dtype::i64: out = compare_as<std::int64_t>(got, dtype, want, row, rules); break;
    case Dtype::i32: out = compare_as<std::int32_t>(got, dtype, want, row, rules); break;
    case Dtype::i16: out = compare_as<std::int16_t>(got, dtype, want, row, rules); break;
    case Dtype::i8: out = compare_as<std::int8_t>(got, dtype, want, row, rules); break;
    case Dtype::u64: out = compare_as<std::uint64_t>(got, dtype, want, row, rules); break;
    case Dtype::u32: out = compare_as<std::uint32_t>(got, dtype, want, row, rules); break;
    case Dtype::u16: out = compare_as<std::uint16_t>(got, dtype, want, row, rules); break;
    case Dtype::u8: out = compare_as<std::uint8_t>(got, dtype, want, row, rules); break;
  }
  if (out.reason == Reason::none) return out;
  const std::uint64_t word = poison_word(dtype, poison_seed);
  switch (size_of(dtype)) {
    case 8: count_poison<std::uint64_t>(got, want.size(), word, out); break;
    case 4: count_poison<std::uint32_t>(got, want.size(), word, out); break;
    case 2: count_poison<std::uint16_t>(got, want.size(), word, out); break;
    default: count_poison<std::uint8_t>(got, want.size(), word, out); break;
  }
  // One-byte patterns occur by chance, so only a wholly untouched buffer says "never written" there.
  const auto all = static_cast<std::int64_t>(want.size());
  if (out.poisoned > 0 && (size_of(dtype) > 1 || out.poisoned == all)) out.reason = Reason::stale_output;
  return out;
}

}  // namespace tunesmith::bench
