// C[m,n] = A[m,k] * B[k,n], f32, row-major, for one thread.
//
// An outer-product micro-kernel keeps MR x NRV vectors of C in named registers; around it stand the usual
// cache blocks. Every accumulator has a name of its own, made by the preprocessor: arrays of vectors are
// spilled by compilers as soon as an index is not folded, and take twice as long to compile. For the same
// reason nothing is included.
//
// Any m, n, k >= 0 is right: the last rows of A and the last columns of B are copied and padded with zeros
// when they do not fill a tile, so that one micro-kernel serves all and no load leaves the caller's buffers.

#ifndef MR  // rows of the register tile, 1..16
#define MR 4
#endif
#ifndef NRV  // vectors in a row of the register tile, 1..4, 6 or 8
#define NRV 2
#endif
#ifndef VL  // floats in a vector: 4, 8, 16
#define VL 8
#endif
#ifndef MC  // rows of A in one block
#define MC 64
#endif
#ifndef KC  // depth of one block
#define KC 256
#endif
#ifndef NC  // columns of B in one block
#define NC 256
#endif
#ifndef PACK_A  // copy each block of A so that a tile reads it in order
#define PACK_A 0
#endif
#ifndef PACK_B  // copy each block of B so that a tile reads it in order
#define PACK_B 0
#endif
#ifndef UNROLL  // steps of k in one turn of the inner loop: 1, 2, 4, 8
#define UNROLL 1
#endif
#ifndef PREFETCH  // how far ahead to fetch B; 0 for not at all
#define PREFETCH 0
#endif
#ifndef PREFETCH_WAY  // 0: PREFETCH rows further down the panel; 1: the same rows, PREFETCH panels to the
                      // right
#define PREFETCH_WAY 0
#endif
#ifndef PREFETCH_LEVEL  // the cache to fetch into: 1 or 2
#define PREFETCH_LEVEL 1
#endif
#ifndef PREFETCH_C  // fetch the tile of C while the product is computed
#define PREFETCH_C 0
#endif
#ifndef ORDER  // 0: one panel of B meets all tiles of A; 1: one tile of A meets all panels of B
#define ORDER 0
#endif

#define NR (NRV * VL)

// Blocks hold whole tiles, whatever the two were set to apart: else every block would end in a short one.
#define MC_WHOLE (MC / MR > 0 ? MC / MR * MR : MR)
#define NC_WHOLE (NC / NR > 0 ? NC / NR * NR : NR)

#if MR == 1
#define EACH_ROW(X) X(0)
#elif MR == 2
#define EACH_ROW(X) X(0) X(1)
#elif MR == 3
#define EACH_ROW(X) X(0) X(1) X(2)
#elif MR == 4
#define EACH_ROW(X) X(0) X(1) X(2) X(3)
#elif MR == 5
#define EACH_ROW(X) X(0) X(1) X(2) X(3) X(4)
#elif MR == 6
#define EACH_ROW(X) X(0) X(1) X(2) X(3) X(4) X(5)
#elif MR == 7
#define EACH_ROW(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6)
#elif MR == 8
#define EACH_ROW(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#elif MR == 9
#define EACH_ROW(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8)
#elif MR == 10
#define EACH_ROW(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9)
#elif MR == 12
#define EACH_ROW(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#elif MR == 14
#define EACH_ROW(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13)
#elif MR == 16
#define EACH_ROW(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#else
#error "MR must be 1..10, 12, 14 or 16"
#endif

#if NRV == 1
#define EACH_VECTOR(X, i) X(i, 0)
#elif NRV == 2
#define EACH_VECTOR(X, i) X(i, 0) X(i, 1)
#elif NRV == 3
#define EACH_VECTOR(X, i) X(i, 0) X(i, 1) X(i, 2)
#elif NRV == 4
#define EACH_VECTOR(X, i) X(i, 0) X(i, 1) X(i, 2) X(i, 3)
#elif NRV == 6
#define EACH_VECTOR(X, i) X(i, 0) X(i, 1) X(i, 2) X(i, 3) X(i, 4) X(i, 5)
#elif NRV == 8
#define EACH_VECTOR(X, i) X(i, 0) X(i, 1) X(i, 2) X(i, 3) X(i, 4) X(i, 5) X(i, 6) X(i, 7)
#else
#error "NRV must be 1, 2, 3, 4, 6 or 8"
#endif

#if UNROLL == 1
#define EACH_STEP(X) X(0)
#elif UNROLL == 2
#define EACH_STEP(X) X(0) X(1)
#elif UNROLL == 4
#define EACH_STEP(X) X(0) X(1) X(2) X(3)
#elif UNROLL == 8
#define EACH_STEP(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#else
#error "UNROLL must be 1, 2, 4 or 8"
#endif

namespace {

// Loads and stores are unaligned: rows of a matrix start anywhere.
typedef float vec __attribute__((vector_size(VL * 4)));
typedef float unaligned_vec __attribute__((vector_size(VL * 4), aligned(4), may_alias));

// c[MR, NR] = a * b over `depth`, or += when not `first`. A packed A has MR rows side by side, else it is
// row-major.
__attribute__((noinline)) void tile(const float* a, long lda, const float* b, long ldb, float* c, long ldc,
                                    long depth, bool first) {
#if PREFETCH_C
#define FETCH_C_VECTOR(i, j) __builtin_prefetch(c + (i)*ldc + (j)*VL, 1, 3);
#define FETCH_C(i) EACH_VECTOR(FETCH_C_VECTOR, i)
  EACH_ROW(FETCH_C)
#endif

#if PACK_B
  ldb = NR;  // it is that already; as a constant it saves the addresses of the unrolled steps
#endif
#if PACK_A
  (void)lda;
#define A_STEP MR
#define A_AT(i) a[step * MR + (i)]
#else
#define A_STEP 1
#define A_AT(i) a[(i)*lda + step]
#endif

#if PREFETCH
#if PREFETCH_WAY == 0
#define FETCH_B_VECTOR(i, j) __builtin_prefetch(b + (step + PREFETCH) * ldb + (j)*VL, 0, 4 - PREFETCH_LEVEL);
#else
#define FETCH_B_VECTOR(i, j) \
  __builtin_prefetch(b + step * ldb + (j)*VL + PREFETCH * NR, 0, 4 - PREFETCH_LEVEL);
#endif
#define FETCH_B EACH_VECTOR(FETCH_B_VECTOR, 0)
#else
#define FETCH_B
#endif

// `x - vec{}` fills a vector with x in one broadcasting load: x - 0 is x, which x + 0 is not for x = -0.
#define LOAD_B(i, j) const vec b##j = *(const unaligned_vec*)(b + step * ldb + (j)*VL);
#define MULTIPLY_ADD(i, j) c##i##_##j += ai * b##j;
#define ROW(i)                      \
  {                                 \
    const vec ai = A_AT(i) - vec{}; \
    EACH_VECTOR(MULTIPLY_ADD, i)    \
  }
#define STEP(u)              \
  {                          \
    constexpr long step = u; \
    FETCH_B                  \
    EACH_VECTOR(LOAD_B, 0)   \
    EACH_ROW(ROW)            \
  }

#define ZERO_VECTOR(i, j) vec c##i##_##j = {};
#define ZERO(i) EACH_VECTOR(ZERO_VECTOR, i)
  EACH_ROW(ZERO)

  long p = 0;
  for (; p + UNROLL <= depth; p += UNROLL) {
    EACH_STEP(STEP)
    a += UNROLL * A_STEP;
    b += UNROLL * ldb;
  }
#if UNROLL > 1
  for (; p < depth; ++p) {
    STEP(0)
    a += A_STEP;
    b += ldb;
  }
#endif

#define STORE_VECTOR(i, j) *(unaligned_vec*)(c + (i)*ldc + (j)*VL) = c##i##_##j;
#define STORE(i) EACH_VECTOR(STORE_VECTOR, i)
#define ADD_VECTOR(i, j) *(unaligned_vec*)(c + (i)*ldc + (j)*VL) += c##i##_##j;
#define ADD(i) EACH_VECTOR(ADD_VECTOR, i)
  if (first) {
    EACH_ROW(STORE)
  } else {
    EACH_ROW(ADD)
  }
}

// Copies `rows` rows of A so that MR of them stand side by side for each k; missing rows are zero.
void pack_a_tile(float* __restrict to, const float* from, long lda, long rows, long depth) {
  if (rows == MR) {
    for (long p = 0; p < depth; ++p) {
#define COPY_ROW(i) to[p * MR + (i)] = from[(i)*lda + p];
      EACH_ROW(COPY_ROW)
    }
    return;
  }
  for (long p = 0; p < depth; ++p) {
    for (long i = 0; i < MR; ++i) to[p * MR + i] = i < rows ? from[i * lda + p] : 0;
  }
}

// Copies `columns` columns of B into a panel of NR; missing columns are zero.
void pack_b_panel(float* __restrict to, const float* from, long ldb, long columns, long depth) {
  if (columns == NR) {
    for (long p = 0; p < depth; ++p) {
#define COPY_VECTOR(i, j) \
  *(unaligned_vec*)(to + p * NR + (j)*VL) = *(const unaligned_vec*)(from + p * ldb + (j)*VL);
      EACH_VECTOR(COPY_VECTOR, 0)
    }
    return;
  }
  for (long p = 0; p < depth; ++p) {
    for (long j = 0; j < NR; ++j) to[p * NR + j] = j < columns ? from[p * ldb + j] : 0;
  }
}

// A tile at the right or lower edge: computed whole in a buffer of its own, of which the part inside C is
// kept.
__attribute__((noinline)) void edge_tile(const float* a, long lda, const float* b, long ldb, float* c,
                                         long ldc, long depth, long rows, long columns, bool first) {
  alignas(64) float whole[MR * NR];
  tile(a, lda, b, ldb, whole, NR, depth, true);
  for (long i = 0; i < rows; ++i) {
    for (long j = 0; j < columns; ++j) c[i * ldc + j] = whole[i * NR + j] + (first ? 0 : c[i * ldc + j]);
  }
}

inline long least(long x, long y) { return x < y ? x : y; }

}  // namespace

// pack_a: at least MC * KC and MR * KC floats (or (m + 16) * k if that is less); pack_b: at least (NC + NR) *
// KC floats (or (n + NR) * k if that is less). B's last panel is copied even without PACK_B, A's last tile
// likewise.
extern "C" void gemm(const float* a, const float* b, float* c, float* pack_a, float* pack_b, int m, int n,
                     int k) {
  for (long jc = 0; jc < n; jc += NC_WHOLE) {
    const long nc = least(NC_WHOLE, n - jc);
    long pc = 0;
    do {
      const long kc = least(KC, k - pc);
      const bool first = pc == 0;
      const float* b_block = b + pc * n + jc;
      for (long jr = PACK_B ? 0 : nc / NR * NR; jr < nc; jr += NR) {
        pack_b_panel(pack_b + (PACK_B ? jr * kc : 0), b_block + jr, n, least(NR, nc - jr), kc);
      }
      for (long ic = 0; ic < m; ic += MC_WHOLE) {
        const long mc = least(MC_WHOLE, m - ic);
        const float* a_block = a + ic * static_cast<long>(k) + pc;
        const long whole_rows = mc / MR * MR;
        for (long ir = PACK_A ? 0 : whole_rows; ir < mc; ir += MR) {
          const long rows = least(MR, mc - ir);
          if (PACK_A) {
            pack_a_tile(pack_a + ir * kc, a_block + ir * k, k, rows, kc);
          } else {
            for (long i = 0; i < MR; ++i) {
              for (long p = 0; p < kc; ++p) pack_a[i * kc + p] = i < rows ? a_block[(ir + i) * k + p] : 0;
            }
          }
        }
#if ORDER == 0
        for (long jr = 0; jr < nc; jr += NR) {
          for (long ir = 0; ir < mc; ir += MR) {
#else
        for (long ir = 0; ir < mc; ir += MR) {
          for (long jr = 0; jr < nc; jr += NR) {
#endif
            const bool copied_a = PACK_A || ir == whole_rows;
            const bool copied_b = PACK_B || jr + NR > nc;
            const float* a_tile = copied_a ? pack_a + (PACK_A ? ir * kc : 0) : a_block + ir * k;
            const long lda = copied_a ? kc : k;
            const float* b_panel = copied_b ? pack_b + (PACK_B ? jr * kc : 0) : b_block + jr;
            const long ldb = copied_b ? NR : n;
            float* c_tile = c + (ic + ir) * n + jc + jr;
            if (mc - ir >= MR && nc - jr >= NR) {
              tile(a_tile, lda, b_panel, ldb, c_tile, n, kc, first);
            } else {
              edge_tile(a_tile, lda, b_panel, ldb, c_tile, n, kc, least(MR, mc - ir), least(NR, nc - jr),
                        first);
            }
          }
        }
      }
      pc += KC;
    } while (pc < k);
  }
}
