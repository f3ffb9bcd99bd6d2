// What is right, written for the eye and not for speed. `real` is double when the examiner compiles it.
void transpose_multiply(const real* a, const real* b, real* c, int m, int n, int k) {
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      real sum = 0;
      for (int l = 0; l < k; ++l) sum += a[l * m + i] * b[l * n + j];
      c[i * n + j] = sum;
    }
  }
}
