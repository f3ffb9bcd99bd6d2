// The case's GEMM as one call of OpenBLAS's sgemm (sgemv for one row, where its sgemm is several times
// slower). Link with -lopenblas. The declarations stand here so that no CBLAS header is needed.

extern "C" {
void cblas_sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float* a,
                 int lda, const float* b, int ldb, float beta, float* c, int ldc);
void cblas_sgemv(int order, int trans_a, int m, int n, float alpha, const float* a, int lda, const float* x,
                 int incx, float beta, float* y, int incy);
}

extern "C" void gemm(const float* a, const float* b, float* c, float* /*pack_a*/, float* /*pack_b*/, int m,
                     int n, int k) {
  constexpr int row_major = 101, plain = 111, transposed = 112;
  if (m == 1) {
    cblas_sgemv(row_major, transposed, k, n, 1.0F, b, n, a, 1, 0.0F, c, 1);
    return;
  }
  cblas_sgemm(row_major, plain, plain, m, n, k, 1.0F, a, k, b, n, 0.0F, c, n);
}
