// y[row, :] = softmax(x[row, :]) for [rows, cols], f32, row-major, one thread; memory bound once the rows do
// not fit a cache. Finite inputs; any rows, cols >= 1.
//
// Three ways through a row:
//   MODE 0  maximum; exponentials, kept in y, and their sum; y times 1 / sum
//   MODE 1  maximum; sum of exponentials; exponentials again, times 1 / sum
//   MODE 2  maximum and sum together, lane by lane (the sum is rescaled when a lane's maximum grows); then as
//   in MODE 1
// MODE 1 and 2 write y once and never read it, which makes non-temporal stores possible.

#ifndef MODE
#define MODE 0
#endif
#ifndef VL  // floats in a vector: 4, 8, 16
#define VL 8
#endif
#ifndef UNROLL  // vectors in one turn: 1, 2, 4, 8
#define UNROLL 1
#endif
#ifndef EXP_DEGREE  // of the polynomial for 2^f, |f| <= 1/2: 3, 4 or 5 (relative error 1e-4, 3e-6, 9e-8)
#define EXP_DEGREE 5
#endif
#ifndef PREFETCH  // floats to prefetch ahead in the first pass; 0 for none
#define PREFETCH 0
#endif
#ifndef PREFETCH_Y  // fetch y for writing, so many floats ahead in its first pass; 0 for none
#define PREFETCH_Y 0
#endif
#ifndef STREAM  // non-temporal stores of y in MODE 1 and 2, where its rows are aligned
#define STREAM 0
#endif

#if UNROLL == 1
#define EACH(X) X(0)
#elif UNROLL == 2
#define EACH(X) X(0) X(1)
#elif UNROLL == 4
#define EACH(X) X(0) X(1) X(2) X(3)
#elif UNROLL == 8
#define EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#else
#error "UNROLL must be 1, 2, 4 or 8"
#endif

#if STREAM && defined(__GNUC__) && !defined(__clang__)
#if VL == 16 && defined(__AVX512F__)
#define STORE_PAST_CACHES __builtin_ia32_movntps512
#elif VL == 8 && defined(__AVX__)
#define STORE_PAST_CACHES __builtin_ia32_movntps256
#elif VL == 4 && defined(__SSE__)
#define STORE_PAST_CACHES __builtin_ia32_movntps
#endif
#endif

namespace {

typedef float vec __attribute__((vector_size(VL * 4)));
typedef int ints __attribute__((vector_size(VL * 4)));
typedef float unaligned_vec __attribute__((vector_size(VL * 4), aligned(4), may_alias));

constexpr float k_lowest = -3.0e38F;
constexpr float k_log2e = 1.44269504F;

inline vec load(const float* p) { return *(const unaligned_vec*)p; }
inline vec greater(vec x, vec y) { return x > y ? x : y; }

inline void store(float* p, vec x, bool aligned) {
#ifdef STORE_PAST_CACHES
  if (aligned) {
    STORE_PAST_CACHES(p, x);
    return;
  }
#else
  (void)aligned;
#endif
  *(unaligned_vec*)p = x;
}

// 2^x for x <= 0; below 2^-126 the result is 2^-126. Exact at 0, so that rescaling for a maximum that has not
// grown changes nothing, however often it happens.
inline vec exp2_of(vec x) {
  x = greater(x, vec{} - 126.0F);
  const vec magic = vec{} + 12582912.0F;  // 1.5 * 2^23: adding it rounds to an integer in the low bits
  const vec shifted = x + magic;
  const vec f = x - (shifted - magic);
#if EXP_DEGREE == 3
  const vec p = 1.0F + f * (0.693282929F + f * (0.242210977F + f * 0.0550089337F));
#elif EXP_DEGREE == 4
  const vec p = 1.0F + f * (0.693124193F + f * (0.240240986F + f * (0.0559064272F + f * 0.00958285362F)));
#elif EXP_DEGREE == 5
  const vec p =
      1.0F + f * (0.693146978F +
                  f * (0.240222421F + f * (0.0555073374F + f * (0.00967151292F + f * 0.00132647276F))));
#else
#error "EXP_DEGREE must be 3, 4 or 5"
#endif
  return (vec)((ints)p + ((ints)shifted << 23));
}

// The last columns, filled up so that they change neither the maximum nor, after exp, a sum that matters.
inline vec load_rest(const float* p, long count) {
  vec x = vec{} + k_lowest;
  for (long i = 0; i < count; ++i) x[i] = p[i];
  return x;
}

inline void store_rest(float* p, vec x, long count) {
  for (long i = 0; i < count; ++i) p[i] = x[i];
}

inline float lanes_max(vec x) {
  float most = x[0];
  for (int i = 1; i < VL; ++i) most = x[i] > most ? x[i] : most;
  return most;
}

inline float lanes_sum(vec x) {
  float sum = 0;
  for (int i = 0; i < VL; ++i) sum += x[i];
  return sum;
}

#if PREFETCH
#define FETCH(u) __builtin_prefetch(x + c + PREFETCH + (u)*VL, 0, 3);
#else
#define FETCH(u)
#endif
#if PREFETCH_Y
#define FETCH_Y(u) __builtin_prefetch(y + c + PREFETCH_Y + (u)*VL, 1, 3);
#else
#define FETCH_Y(u)
#endif

__attribute__((noinline)) void softmax_row(const float* x, float* y, long cols) {
  constexpr long k_turn = UNROLL * VL;
  const long whole_turns = cols / k_turn * k_turn;
  const long whole = cols / VL * VL;
  long c = 0;

#define MAX_START(u) vec m##u = vec{} + k_lowest;
  EACH(MAX_START)
#if MODE == 2
  // Sums are of 2^(log2e * (x - maximum of the lane so far)); all lanes of a turn share one maximum.
  vec now = vec{} + k_lowest * 0.5F;
#define SUM_START(u) vec t##u = {};
  EACH(SUM_START)
  for (; c < whole_turns; c += k_turn) {
#define READ(u) FETCH(u) const vec x##u = load(x + c + (u)*VL) * k_log2e;
    EACH(READ)
    vec grown = now;
#define GROW(u) grown = greater(x##u, grown);
    EACH(GROW)
    const vec shrink = exp2_of(now - grown);
#define ONLINE(u) t##u = t##u * shrink + exp2_of(x##u - grown);
    EACH(ONLINE)
    now = grown;
  }
  vec total = {};
#define JOIN(u) total += t##u;
  EACH(JOIN)
  for (; c < cols; c += VL) {
    const vec x0 = c < whole ? load(x + c) : load_rest(x + c, cols - c);
    const vec grown = greater(x0 * k_log2e, now);
    total = total * exp2_of(now - grown) + exp2_of(greater(x0, vec{} + k_lowest * 0.5F) * k_log2e - grown);
    now = grown;
  }
  const float high = lanes_max(now);
  const float sum = lanes_sum(total * exp2_of(now - high));
#else
  for (; c < whole_turns; c += k_turn) {
#define MAX(u) FETCH(u) m##u = greater(load(x + c + (u)*VL), m##u);
    EACH(MAX)
  }
  for (; c < cols; c += VL) m0 = greater(c < whole ? load(x + c) : load_rest(x + c, cols - c), m0);
  vec most = m0;
#define MAX_JOIN(u) most = greater(m##u, most);
  EACH(MAX_JOIN)
  const float high = lanes_max(most) * k_log2e;
#define SUM_START(u) vec t##u = {};
  EACH(SUM_START)
  for (c = 0; c < whole_turns; c += k_turn) {
#if MODE == 0
#define SUM(u)                                                     \
  FETCH_Y(u)                                                       \
  const vec e##u = exp2_of(load(x + c + (u)*VL) * k_log2e - high); \
  store(y + c + (u)*VL, e##u, false);                              \
  t##u += e##u;
#else
#define SUM(u) t##u += exp2_of(load(x + c + (u)*VL) * k_log2e - high);
#endif
    EACH(SUM)
  }
  vec total = {};
#define JOIN(u) total += t##u;
  EACH(JOIN)
  for (; c < whole; c += VL) {
    const vec e = exp2_of(load(x + c) * k_log2e - high);
    total += e;
    if (MODE == 0) store(y + c, e, false);
  }
  float sum = lanes_sum(total);
  if (c < cols) {
    const vec e = exp2_of(greater(load_rest(x + c, cols - c), vec{} + k_lowest * 0.5F) * k_log2e - high);
    for (long i = 0; i < cols - c; ++i) sum += e[i];
    if (MODE == 0) store_rest(y + c, e, cols - c);
  }
#endif

  const float factor = 1.0F / sum;
#if MODE == 0
#define FINISHED(at) (load(y + (at)) * factor)
#define ALIGNED false
#else
#define FINISHED(at) (exp2_of(load(x + (at)) * k_log2e - high) * factor)
  const bool aligned = reinterpret_cast<unsigned long>(y) % (VL * 4) == 0;
#define ALIGNED aligned
#endif
  for (c = 0; c < whole_turns; c += k_turn) {
#if MODE != 0
#define WRITE(u) FETCH_Y(u) store(y + c + (u)*VL, FINISHED(c + (u)*VL), ALIGNED);
#else
#define WRITE(u) store(y + c + (u)*VL, FINISHED(c + (u)*VL), ALIGNED);
#endif
    EACH(WRITE)
  }
  for (; c < whole; c += VL) store(y + c, FINISHED(c), ALIGNED);
  for (; c < cols; ++c) {
#if MODE == 0
    y[c] *= factor;
#else
    y[c] = exp2_of(vec{} + (x[c] * k_log2e - high))[0] * factor;
#endif
  }
}

}  // namespace

extern "C" void softmax(const float* x, float* y, int rows, int cols) {
  for (long row = 0; row < rows; ++row) softmax_row(x + row * cols, y + row * cols, cols);
#ifdef STORE_PAST_CACHES
  __builtin_ia32_sfence();
#endif
}
