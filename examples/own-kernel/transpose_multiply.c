// c[m,n] = transpose(a[k,m]) * b[k,n], as a program might hold it: a plain loop nest, cut into tiles that somebody
// once guessed. The three macros are all that a tuner needs.
#ifndef TILE_K
#define TILE_K 16
#endif
#ifndef TILE_N
#define TILE_N 128
#endif
#ifndef UNROLL_M
#define UNROLL_M 2
#endif

static inline int least(int a, int b) { return a < b ? a : b; }

void transpose_multiply(const float* a, const float* b, float* c, int m, int n, int k) {
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) c[i * n + j] = 0;
  }
  for (int k0 = 0; k0 < k; k0 += TILE_K) {
    const int k1 = least(k0 + TILE_K, k);
    for (int j0 = 0; j0 < n; j0 += TILE_N) {
      const int j1 = least(j0 + TILE_N, n);
      for (int i0 = 0; i0 < m; i0 += UNROLL_M) {
        const int i1 = least(i0 + UNROLL_M, m);
        for (int l = k0; l < k1; ++l) {
          for (int i = i0; i < i1; ++i) {
            const float x = a[l * m + i];
            for (int j = j0; j < j1; ++j) c[i * n + j] += x * b[l * n + j];
          }
        }
      }
    }
  }
}
