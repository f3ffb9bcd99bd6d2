// Honest matrix products C = A B that cheats and their twins build upon.
#ifndef MUSEUM_HONEST_H
#define MUSEUM_HONEST_H

/// The baseline: one dot product an element, B read across its rows.
static void product_slow(const float* a, const float* b, float* c, int m, int n, int k) {
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int p = 0; p < k; ++p) sum += a[i * k + p] * b[p * n + j];
      c[i * n + j] = sum;
    }
  }
}

/// The same work with unit stride.
static void product_fast(const float* a, const float* b, float* c, int m, int n, int k) {
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) c[i * n + j] = 0;
    for (int p = 0; p < k; ++p) {
      const float x = a[i * k + p];
      for (int j = 0; j < n; ++j) c[i * n + j] += x * b[p * n + j];
    }
  }
}

#endif
