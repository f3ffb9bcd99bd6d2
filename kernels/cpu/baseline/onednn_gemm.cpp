// The case's GEMM as one call of oneDNN's dnnl_sgemm. Link with -ldnnl.

extern "C" int dnnl_sgemm(char trans_a, char trans_b, long m, long n, long k, float alpha, const float* a,
                          long lda, const float* b, long ldb, float beta, float* c, long ldc);

extern "C" void gemm(const float* a, const float* b, float* c, float* /*pack_a*/, float* /*pack_b*/, int m,
                     int n, int k) {
  dnnl_sgemm('N', 'N', m, n, k, 1.0F, a, k, b, n, 0.0F, c, n);
}
