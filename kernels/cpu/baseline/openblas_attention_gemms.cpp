// Only the two matrix products of attention, in OpenBLAS: s = q k^T and o = s v, without the softmax between
// them. Its time is the bound that an attention made of library calls could reach if exponentials cost
// nothing; its result is not attention, so it is a peer for timing (benchmarks/peers) and never a baseline.
// Link with -lopenblas.

extern "C" void cblas_sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                            const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc);

extern "C" void attention(const float* q, const float* k, const float* v, float* o, float* work, int heads,
                          int seq, int dim) {
  constexpr int row_major = 101, plain = 111, transposed = 112;
  for (int head = 0; head < heads; ++head) {
    const long at = static_cast<long>(head) * seq * dim;
    cblas_sgemm(row_major, plain, transposed, seq, seq, dim, 1.0F, q + at, dim, k + at, dim, 0.0F, work, seq);
    cblas_sgemm(row_major, plain, plain, seq, dim, seq, 1.0F, work, seq, v + at, dim, 0.0F, o + at, dim);
  }
}
