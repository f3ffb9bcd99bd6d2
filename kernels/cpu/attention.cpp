// o = softmax(q k^T / sqrt(dim)) v for [heads, seq, dim], f32, row-major, one thread, without ever holding a
// whole row of scores (the online softmax of flash attention).
//
// Queries lie in the lanes: a block of q is transposed and scaled once, then scores are computed transposed,
//   s[key, query] = k[key, :] . qt[:, query]          (rows of k are broadcast, as A is in a matrix product)
// so the maximum, the exponentials and the sums run down the vectors and no step reduces across lanes; and
// the block of probabilities is already the packed left operand of the second product,
//   o[query, :] = o[query, :] * alpha[query] + sum over keys of p[key, query] * v[key, :].
// Accumulators have names of their own (see gemm.cpp), and nothing is included.
//
// Any heads, seq and dim >= 1 is right: short query blocks are padded with zeros, a short last group of keys
// repeats its last key (whose copies are never summed), the last columns of v are copied and padded.

#ifndef BLOCK_Q  // queries in a block; rounded up to whole vectors of the score tile
#define BLOCK_Q 32
#endif
#ifndef BLOCK_K  // keys in a block
#define BLOCK_K 64
#endif
#ifndef QK_MR  // keys in a score tile, 1..12
#define QK_MR 4
#endif
#ifndef QK_NRV  // vectors of queries in a score tile, 1..4
#define QK_NRV 2
#endif
#ifndef PV_MR  // queries in an output tile, 1..12
#define PV_MR 4
#endif
#ifndef PV_NRV  // vectors of dim in an output tile, 1..4
#define PV_NRV 2
#endif
#ifndef VL  // floats in a vector: 4, 8, 16
#define VL 8
#endif
#ifndef QK_UNROLL  // steps of dim in one turn of the score loop: 1, 2, 4, 8
#define QK_UNROLL 1
#endif
#ifndef PV_UNROLL  // keys in one turn of the output loop: 1, 2, 4, 8
#define PV_UNROLL 1
#endif
#ifndef EXP_DEGREE  // of the polynomial for 2^f, |f| <= 1/2: 3, 4 or 5 (relative error 1e-4, 3e-6, 9e-8)
#define EXP_DEGREE 5
#endif
#ifndef EXP_UNROLL  // keys in one turn of the exponential loop
#define EXP_UNROLL 1
#endif
#ifndef FUSE_MAX  // take the maximum from the score tile's registers, not in a pass of its own
#define FUSE_MAX 0
#endif
#ifndef PREFETCH_V  // rows of v to prefetch ahead in the output tile; 0 for none
#define PREFETCH_V 0
#endif

#define QK_NR (QK_NRV * VL)
#define PV_NR (PV_NRV * VL)
#define QUERIES ((BLOCK_Q + QK_NR - 1) / QK_NR * QK_NR)
// Row length of the score block: an output tile may read a few queries past the block, and the odd
// length keeps rows from meeting in the same cache sets.
#define SCORE_ROW (QUERIES + 16)

#define ROWS_1(X) X(0)
#define ROWS_2(X) ROWS_1(X) X(1)
#define ROWS_3(X) ROWS_2(X) X(2)
#define ROWS_4(X) ROWS_3(X) X(3)
#define ROWS_5(X) ROWS_4(X) X(4)
#define ROWS_6(X) ROWS_5(X) X(5)
#define ROWS_7(X) ROWS_6(X) X(6)
#define ROWS_8(X) ROWS_7(X) X(7)
#define ROWS_9(X) ROWS_8(X) X(8)
#define ROWS_10(X) ROWS_9(X) X(9)
#define ROWS_11(X) ROWS_10(X) X(10)
#define ROWS_12(X) ROWS_11(X) X(11)
#define VECTORS_1(X, i) X(i, 0)
#define VECTORS_2(X, i) VECTORS_1(X, i) X(i, 1)
#define VECTORS_3(X, i) VECTORS_2(X, i) X(i, 2)
#define VECTORS_4(X, i) VECTORS_3(X, i) X(i, 3)
#define STEPS_1(X) X(0)
#define STEPS_2(X) STEPS_1(X) X(1)
#define STEPS_4(X) STEPS_2(X) X(2) X(3)
#define STEPS_8(X) STEPS_4(X) X(4) X(5) X(6) X(7)
// One pasting macro for each level of nesting: a macro is not expanded inside itself.
#define PASTE_ROWS_(n) ROWS_##n
#define PASTE_ROWS(n) PASTE_ROWS_(n)
#define PASTE_VECTORS_(n) VECTORS_##n
#define PASTE_VECTORS(n) PASTE_VECTORS_(n)
#define PASTE_STEPS_(n) STEPS_##n
#define PASTE_STEPS(n) PASTE_STEPS_(n)

namespace {

typedef float vec __attribute__((vector_size(VL * 4)));
typedef int ints __attribute__((vector_size(VL * 4)));
typedef float unaligned_vec __attribute__((vector_size(VL * 4), aligned(4), may_alias));

inline long least(long x, long y) { return x < y ? x : y; }
inline vec load(const float* p) { return *(const unaligned_vec*)p; }
inline void store(float* p, vec x) { *(unaligned_vec*)p = x; }
inline vec greater(vec x, vec y) { return x > y ? x : y; }

// 2^x for x <= 0; below 2^-126 the result is 2^-126, which no sum here can tell from zero. Exact at 0, so
// that rescaling for a maximum that has not grown changes nothing, however often it happens.
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

// Names shared by the two tiles; `x - vec{}` fills a vector with x in one broadcasting load.
#define ZERO_VECTOR(i, j) vec c##i##_##j = {};
#define MULTIPLY_ADD(i, j) c##i##_##j += ai * b##j;

// s[QK_MR keys, QK_NR queries] = k rows * transposed queries.
__attribute__((noinline)) void score_tile(const float* k, long ldk, const float* qt, float* s, float* highest,
                                          long dim) {
#define QK_EACH_ROW PASTE_ROWS(QK_MR)
#define QK_EACH_VECTOR PASTE_VECTORS(QK_NRV)
#define QK_ZERO(i) QK_EACH_VECTOR(ZERO_VECTOR, i)
#define QK_LOAD(i, j) const vec b##j = load(qt + step * QUERIES + (j)*VL);
#define QK_ROW(i)                             \
  {                                           \
    const vec ai = k[(i)*ldk + step] - vec{}; \
    QK_EACH_VECTOR(MULTIPLY_ADD, i)           \
  }
#define QK_STEP(u)             \
  {                            \
    constexpr long step = u;   \
    QK_EACH_VECTOR(QK_LOAD, 0) \
    QK_EACH_ROW(QK_ROW)        \
  }
  QK_EACH_ROW(QK_ZERO)
  long d = 0;
  for (; d + QK_UNROLL <= dim; d += QK_UNROLL) {
    { PASTE_STEPS(QK_UNROLL)(QK_STEP) }
    k += QK_UNROLL;
    qt += QK_UNROLL * QUERIES;
  }
  for (; QK_UNROLL > 1 && d < dim; ++d) {
    QK_STEP(0)
    ++k;
    qt += QUERIES;
  }
#define QK_STORE_VECTOR(i, j) store(s + (i)*SCORE_ROW + (j)*VL, c##i##_##j);
#define QK_STORE(i) QK_EACH_VECTOR(QK_STORE_VECTOR, i)
  QK_EACH_ROW(QK_STORE)
#if FUSE_MAX
#define QK_LOAD_MAX(i, j) vec m##j = load(highest + (j)*VL);
#define QK_MAX_VECTOR(i, j) m##j = greater(c##i##_##j, m##j);
#define QK_MAX(i) QK_EACH_VECTOR(QK_MAX_VECTOR, i)
#define QK_STORE_MAX(i, j) store(highest + (j)*VL, m##j);
  QK_EACH_VECTOR(QK_LOAD_MAX, 0)
  QK_EACH_ROW(QK_MAX)
  QK_EACH_VECTOR(QK_STORE_MAX, 0)
#else
  (void)highest;
#endif
}

// o[PV_MR queries, PV_NR columns] = p * v over `keys`, on top of the old o times alpha unless `first`.
__attribute__((noinline)) void output_tile(const float* p, const float* v, long ldv, float* o, long ldo,
                                           const float* alpha, long keys, bool first) {
#define PV_EACH_ROW PASTE_ROWS(PV_MR)
#define PV_EACH_VECTOR PASTE_VECTORS(PV_NRV)
#define PV_ZERO(i) PV_EACH_VECTOR(ZERO_VECTOR, i)
#define PV_LOAD(i, j) const vec b##j = load(v + step * ldv + (j)*VL);
#if PREFETCH_V
#define PV_FETCH_VECTOR(i, j) __builtin_prefetch(v + (step + PREFETCH_V) * ldv + (j)*VL);
#define PV_FETCH PV_EACH_VECTOR(PV_FETCH_VECTOR, 0)
#else
#define PV_FETCH
#endif
#define PV_ROW(i)                                     \
  {                                                   \
    const vec ai = p[step * SCORE_ROW + (i)] - vec{}; \
    PV_EACH_VECTOR(MULTIPLY_ADD, i)                   \
  }
#define PV_STEP(u)             \
  {                            \
    constexpr long step = u;   \
    PV_FETCH                   \
    PV_EACH_VECTOR(PV_LOAD, 0) \
    PV_EACH_ROW(PV_ROW)        \
  }
  PV_EACH_ROW(PV_ZERO)
  long key = 0;
  for (; key + PV_UNROLL <= keys; key += PV_UNROLL) {
    { PASTE_STEPS(PV_UNROLL)(PV_STEP) }
    p += PV_UNROLL * SCORE_ROW;
    v += PV_UNROLL * ldv;
  }
  for (; PV_UNROLL > 1 && key < keys; ++key) {
    PV_STEP(0)
    p += SCORE_ROW;
    v += ldv;
  }
#define PV_STORE_VECTOR(i, j) store(o + (i)*ldo + (j)*VL, c##i##_##j);
#define PV_STORE(i) PV_EACH_VECTOR(PV_STORE_VECTOR, i)
#define PV_ADD_VECTOR(i, j) store(o + (i)*ldo + (j)*VL, load(o + (i)*ldo + (j)*VL) * alpha[i] + c##i##_##j);
#define PV_ADD(i) PV_EACH_VECTOR(PV_ADD_VECTOR, i)
  if (first) {
    PV_EACH_ROW(PV_STORE)
  } else {
    PV_EACH_ROW(PV_ADD)
  }
}

#define PRAGMA_(text) _Pragma(#text)
#define PRAGMA(text) PRAGMA_(text)

// Scores become probabilities relative to the running maximum; alpha is what the older ones must be
// multiplied with.
__attribute__((noinline)) void exponentials(float* s, long keys, float* highest, float* running, float* sum,
                                            float* alpha, bool first) {
  for (long q = 0; q < QUERIES; q += VL) {
    float* column = s + q;
    const vec before = load(running + q);
#if FUSE_MAX
    vec now = greater(load(highest + q), before);
#else
    (void)highest;
    vec now = before;
    PRAGMA(GCC unroll EXP_UNROLL)
    for (long key = 0; key < keys; ++key) now = greater(load(column + key * SCORE_ROW), now);
#endif
    const vec shrink = first ? vec{} : exp2_of(before - now);
    vec total = {};
    PRAGMA(GCC unroll EXP_UNROLL)
    for (long key = 0; key < keys; ++key) {
      const vec e = exp2_of(load(column + key * SCORE_ROW) - now);
      store(column + key * SCORE_ROW, e);
      total += e;
    }
    store(alpha + q, shrink);
    store(running + q, now);
    store(sum + q, first ? total : load(sum + q) * shrink + total);
  }
}

constexpr float k_lowest = -3.0e38F;

inline float* take(float*& from, long count) {
  float* taken = from;
  from += (count + 15) / 16 * 16;
  return taken;
}

}  // namespace

// work: (BLOCK_Q + 80) * (2 * dim + 96 + BLOCK_K + 12) + seq * 64 + 12 * dim floats and a little: see the
// cases.
extern "C" void attention(const float* q, const float* k, const float* v, float* o, float* work, int heads,
                          int seq, int dim) {
  const long ldo = (dim + PV_NR - 1) / PV_NR * PV_NR;
  const long whole_columns = dim / PV_NR * PV_NR;
  float* qt = take(work, static_cast<long>(dim) * QUERIES);
  float* scores = take(work, (BLOCK_K + QK_MR) * static_cast<long>(SCORE_ROW));
  float* output = take(work, (QUERIES + 16) * ldo);
  float* highest = take(work, QUERIES);
  float* running = take(work, QUERIES);
  float* sum = take(work, QUERIES);
  float* alpha = take(work, QUERIES + 16);
  float* last_keys = take(work, static_cast<long>(QK_MR) * dim);
  float* last_columns = take(work, static_cast<long>(seq) * PV_NR);
  const float scale =
      1.44269504F / __builtin_sqrtf(static_cast<float>(dim));  // log2(e): exponentials are powers of 2

  for (long head = 0; head < heads; ++head, q += static_cast<long>(seq) * dim,
            k += static_cast<long>(seq) * dim, v += static_cast<long>(seq) * dim,
            o += static_cast<long>(seq) * dim) {
    if (whole_columns < dim) {
      for (long key = 0; key < seq; ++key) {
        for (long j = 0; j < PV_NR; ++j) {
          last_columns[key * PV_NR + j] = whole_columns + j < dim ? v[key * dim + whole_columns + j] : 0;
        }
      }
    }
    for (long q0 = 0; q0 < seq; q0 += QUERIES) {
      const long queries = least(QUERIES, seq - q0);
      for (long i = 0; i < QUERIES; ++i) {
        for (long d = 0; d < dim; ++d) qt[d * QUERIES + i] = i < queries ? q[(q0 + i) * dim + d] * scale : 0;
        running[i] = k_lowest;
      }
      for (long k0 = 0; k0 < seq; k0 += BLOCK_K) {
        const long keys = least(BLOCK_K, seq - k0);
        const bool first = k0 == 0;
        const long whole_keys = keys / QK_MR * QK_MR;
        for (long i = 0; whole_keys < keys && i < QK_MR; ++i) {
          for (long d = 0; d < dim; ++d)
            last_keys[i * dim + d] = k[(k0 + least(whole_keys + i, keys - 1)) * dim + d];
        }
        for (long i = 0; i < QUERIES; ++i) highest[i] = k_lowest;
        for (long i = 0; i < QUERIES; i += QK_NR) {
          for (long key = 0; key < keys; key += QK_MR) {
            const float* rows = key < whole_keys ? k + (k0 + key) * dim : last_keys;
            score_tile(rows, dim, qt + i, scores + key * SCORE_ROW + i, highest + i, dim);
          }
        }
        exponentials(scores, keys, highest, running, sum, alpha, first);
        for (long d = 0; d < dim; d += PV_NR) {
          const bool copied = d >= whole_columns;
          const float* columns = copied ? last_columns + k0 * PV_NR : v + k0 * dim + d;
          for (long i = 0; i < queries; i += PV_MR) {
            output_tile(scores + i, columns, copied ? PV_NR : dim, output + i * ldo + d, ldo, alpha + i, keys,
                        first);
          }
        }
      }
      for (long i = 0; i < queries; ++i) {
        const float whole = 1.0F / sum[i];
        for (long d = 0; d < dim; ++d) o[(q0 + i) * dim + d] = output[i * ldo + d] * whole;
      }
    }
  }
}
