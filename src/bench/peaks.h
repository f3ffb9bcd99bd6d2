// Micro-benchmarks behind the speed of light: best of many short bursts, on the CPU clock of the calling
// thread. Best, not median: a bound that is too slow would call honest kernels impossible.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tunesmith::bench {

struct Peaks {
  double fma_f32_gflops = 0, fma_f64_gflops = 0, int8_gops = 0;
};
/// Widest vectors that this CPU has, about `seconds` in all.
[[nodiscard]] Peaks measure_peaks(double seconds);
/// GB/s of reading a buffer of that size again and again.
[[nodiscard]] double measure_read_gbytes(std::size_t bytes, double seconds);

}  // namespace tunesmith::bench
