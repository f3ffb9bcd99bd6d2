// Attention as a careful programmer writes it without blocking: for each query its scores, their maximum,
// exponentials and the weighted sum of v. The sums over dim run along rows of k and v, so that the compiler
// may use vectors where the order of additions allows it.

extern "C" float expf(float x);

extern "C" void attention(const float* q, const float* k, const float* v, float* o, float* work, int heads,
                          int seq, int dim) {
  const float scale = 1.0F / __builtin_sqrtf(static_cast<float>(dim));
  float* __restrict scores = work;
  for (int head = 0; head < heads; ++head) {
    const long at = static_cast<long>(head) * seq * dim;
    for (int i = 0; i < seq; ++i) {
      const float* query = q + at + static_cast<long>(i) * dim;
      float* __restrict out = o + at + static_cast<long>(i) * dim;
      float highest = -3.0e38F;
      for (int j = 0; j < seq; ++j) {
        const float* key = k + at + static_cast<long>(j) * dim;
        float dot[8] = {};
        int d = 0;
        for (; d + 8 <= dim; d += 8) {
          for (int lane = 0; lane < 8; ++lane) dot[lane] += query[d + lane] * key[d + lane];
        }
        float s = ((dot[0] + dot[4]) + (dot[1] + dot[5])) + ((dot[2] + dot[6]) + (dot[3] + dot[7]));
        for (; d < dim; ++d) s += query[d] * key[d];
        scores[j] = s * scale;
        highest = scores[j] > highest ? scores[j] : highest;
      }
      float sum = 0;
      for (int d = 0; d < dim; ++d) out[d] = 0;
      for (int j = 0; j < seq; ++j) {
        const float weight = expf(scores[j] - highest);
        sum += weight;
        const float* value = v + at + static_cast<long>(j) * dim;
        for (int d = 0; d < dim; ++d) out[d] += weight * value[d];
      }
      for (int d = 0; d < dim; ++d) out[d] /= sum;
    }
  }
}
