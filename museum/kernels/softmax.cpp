// Softmax of wide rows; ZEROS writes none of it.
#include <math.h>

#ifndef ZEROS
#define ZEROS 0
#endif

extern "C" void softmax(const float* x, float* y, int rows, int cols) {
  for (int r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    float* out = y + r * cols;
    if (ZEROS) {
      for (int i = 0; i < cols; ++i) out[i] = 0;
      continue;
    }
    float greatest = in[0];
    for (int i = 1; i < cols; ++i) greatest = in[i] > greatest ? in[i] : greatest;
    double sum = 0;
    for (int i = 0; i < cols; ++i) sum += out[i] = expf(in[i] - greatest);
    const float scale = static_cast<float>(1 / sum);
    for (int i = 0; i < cols; ++i) out[i] *= scale;
  }
}
