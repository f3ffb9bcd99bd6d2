#include "bench/peaks.h"

#include <ctime>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

namespace tunesmith::bench {

namespace {

/// Wall time: work cannot be done in less of it. The CPU clock of a guest may run short by whatever the host
/// took away a moment before, and the best of many bursts would keep exactly that.
double now_seconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Vectors of the compiler's own kind; the target attribute of each function decides the registers.
template <class T, int Bytes>
struct Vector {
  typedef T type __attribute__((vector_size(Bytes)));
};

// Sixteen chains hide a latency of four cycles on two units twice over. Each begins as something that the
// compiler cannot know: equal chains would be computed once and counted sixteen times.
#define TS_HIDE(v) __asm__ volatile("" : "+v"(v))
#define TS_EACH_CHAIN(what) \
  what(a0);                 \
  what(a1);                 \
  what(a2);                 \
  what(a3);                 \
  what(a4);                 \
  what(a5);                 \
  what(a6);                 \
  what(a7);                 \
  what(a8);                 \
  what(a9);                 \
  what(b0);                 \
  what(b1);                 \
  what(b2);                 \
  what(b3);                 \
  what(b4);                 \
  what(b5)
#define TS_STEP(chain) chain = chain * x + y
#define TS_FMA_BODY(Type, Lanes)                                                                    \
  using V = Vector<Type, Lanes * sizeof(Type)>::type;                                               \
  V a0{}, a1{}, a2{}, a3{}, a4{}, a5{}, a6{}, a7{}, a8{}, a9{}, b0{}, b1{}, b2{}, b3{}, b4{}, b5{}; \
  V x = a0 + Type(1.0000001), y = a0 + Type(0.9999999);                                             \
  TS_HIDE(x);                                                                                       \
  TS_HIDE(y);                                                                                       \
  TS_EACH_CHAIN(TS_HIDE);                                                                           \
  for (long i = 0; i < rounds; ++i) {                                                               \
    TS_EACH_CHAIN(TS_STEP);                                                                         \
    TS_HIDE(x);                                                                                     \
  }                                                                                                 \
  V sum = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + b0 + b1 + b2 + b3 + b4 + b5;            \
  __asm__ volatile("" : : "v"(sum));

#if defined(__x86_64__)
__attribute__((target("avx512f"), noinline)) void fma_f32_512(long rounds) { TS_FMA_BODY(float, 16) }
__attribute__((target("avx512f"), noinline)) void fma_f64_512(long rounds) { TS_FMA_BODY(double, 8) }
__attribute__((target("avx2,fma"), noinline)) void fma_f32_256(long rounds) { TS_FMA_BODY(float, 8) }
__attribute__((target("avx2,fma"), noinline)) void fma_f64_256(long rounds) { TS_FMA_BODY(double, 4) }

// vpdpbusd: 64 multiply-adds of bytes an instruction.
__attribute__((target("avx512f,avx512vnni"), noinline)) void dot_i8_512(long rounds) {
  using V = Vector<int, 64>::type;
  V a0{}, a1{}, a2{}, a3{}, a4{}, a5{}, a6{}, a7{}, a8{}, a9{}, b0{}, b1{};
  V x{}, y{};
  __asm__ volatile("" : "+v"(x), "+v"(y));
  for (long i = 0; i < rounds; ++i) {
#define TS_DOT(acc) __asm__ volatile("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(x), "v"(y))
    TS_DOT(a0);
    TS_DOT(a1);
    TS_DOT(a2);
    TS_DOT(a3);
    TS_DOT(a4);
    TS_DOT(a5);
    TS_DOT(a6);
    TS_DOT(a7);
    TS_DOT(a8);
    TS_DOT(a9);
    TS_DOT(b0);
    TS_DOT(b1);
#undef TS_DOT
  }
}
#else
#define TS_PLAIN_ASM 1
#endif

// The fallback of every other target: plain 128-bit vectors.
#if defined(TS_PLAIN_ASM)
#undef TS_FMA_BODY
#define TS_FMA_BODY(Type, Lanes)                            \
  using V = Vector<Type, Lanes * sizeof(Type)>::type;       \
  V a[16] = {};                                             \
  V x = a[0] + Type(1.0000001), y = a[0] + Type(0.9999999); \
  for (long i = 0; i < rounds; ++i) {                       \
    for (V & v : a) v = v * x + y;                          \
    __asm__ volatile("" : : "r"(&a) : "memory");            \
  }
#endif
#if defined(__x86_64__)
__attribute__((noinline)) void fma_f32_128(long rounds) { TS_FMA_BODY(float, 4) }
__attribute__((noinline)) void fma_f64_128(long rounds) { TS_FMA_BODY(double, 2) }
#else
__attribute__((noinline)) void fma_f32_128(long rounds) { TS_FMA_BODY(float, 4) }
__attribute__((noinline)) void fma_f64_128(long rounds) { TS_FMA_BODY(double, 2) }
#endif

/// Best rate of `operations_a_round` over bursts of about 0.2 ms.
double best_rate(void (*kernel)(long), double operations_a_round, double seconds) {
  long rounds = 1000;
  double best = 0;
  const double start = now_seconds();
  kernel(rounds);
  while (now_seconds() - start < seconds) {
    const double before = now_seconds();
    kernel(rounds);
    const double spent = now_seconds() - before;
    if (spent < 1e-4) {
      rounds *= 2;
      continue;
    }
    best = std::max(best, operations_a_round * static_cast<double>(rounds) / spent * 1e-9);
  }
  return best;
}

using WideWord = Vector<std::uint64_t, 64>::type;

__attribute__((noinline)) void read_plain(const char* from, std::size_t bytes) {
  const auto* words = reinterpret_cast<const std::uint64_t*>(from);
  std::uint64_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (std::size_t i = 0; i + 4 <= bytes / 8; i += 4) {
    s0 += words[i];
    s1 += words[i + 1];
    s2 += words[i + 2];
    s3 += words[i + 3];
  }
  __asm__ volatile("" : : "r"(s0 + s1 + s2 + s3));
}

#if defined(__x86_64__)
__attribute__((target("avx512f"), noinline)) void read_512(const char* from, std::size_t bytes) {
  const auto* words = reinterpret_cast<const WideWord*>(from);
  WideWord s0{}, s1{}, s2{}, s3{};
  for (std::size_t i = 0; i + 4 <= bytes / 64; i += 4) {
    s0 ^= words[i];
    s1 ^= words[i + 1];
    s2 ^= words[i + 2];
    s3 ^= words[i + 3];
  }
  WideWord sum = s0 ^ s1 ^ s2 ^ s3;
  __asm__ volatile("" : : "v"(sum));
}
#endif

}  // namespace

Peaks measure_peaks(double seconds) {
  Peaks peaks;
  const double share = seconds / 3;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f")) {
    peaks.fma_f32_gflops = best_rate(fma_f32_512, 16 * 16 * 2, share);
    peaks.fma_f64_gflops = best_rate(fma_f64_512, 16 * 8 * 2, share);
  } else if (__builtin_cpu_supports("fma")) {
    peaks.fma_f32_gflops = best_rate(fma_f32_256, 16 * 8 * 2, share);
    peaks.fma_f64_gflops = best_rate(fma_f64_256, 16 * 4 * 2, share);
  }
  if (__builtin_cpu_supports("avx512vnni")) peaks.int8_gops = best_rate(dot_i8_512, 12 * 64 * 2, share);
#endif
  if (peaks.fma_f32_gflops == 0) {
    peaks.fma_f32_gflops = best_rate(fma_f32_128, 16 * 4 * 2, share);
    peaks.fma_f64_gflops = best_rate(fma_f64_128, 16 * 2 * 2, share);
  }
  // Without a dot product instruction bytes are widened: at most four times the f32 lanes, one operation
  // each.
  if (peaks.int8_gops == 0) peaks.int8_gops = 4 * peaks.fma_f32_gflops;
  return peaks;
}

double measure_read_gbytes(std::size_t bytes, double seconds) {
  const std::size_t rounded = std::max<std::size_t>(4096, bytes / 4096 * 4096);
  const std::unique_ptr<char, decltype(&std::free)> buffer(
      static_cast<char*>(std::aligned_alloc(4096, rounded)), &std::free);
  if (!buffer) return 0;
  std::memset(buffer.get(), 1, rounded);
  void (*reader)(const char*, std::size_t) = read_plain;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) reader = read_512;
#endif
  std::size_t passes = 1;
  double best = 0;
  const double start = now_seconds();
  reader(buffer.get(), rounded);
  while (now_seconds() - start < seconds || best == 0) {
    const double before = now_seconds();
    for (std::size_t i = 0; i < passes; ++i) reader(buffer.get(), rounded);
    const double spent = now_seconds() - before;
    if (spent < 1e-4) {
      passes *= 2;
      continue;
    }
    best = std::max(best, static_cast<double>(rounded * passes) / spent * 1e-9);
  }
  return best;
}

}  // namespace tunesmith::bench
