// The definition of gemv_int8.cpp in plain loops; integers only, so `real` has nothing to widen.

extern "C" void gemv_int8(const signed char* w, const unsigned char* scales, const signed char* x,
                          long long* y, int* /*work*/, int rows, int columns, int group) {
  const long groups = (static_cast<long>(columns) + group - 1) / group;
  for (long row = 0; row < rows; ++row) {
    long long sum = 0;
    for (long g = 0; g < groups; ++g) {
      long long part = 0;
      for (long c = g * group; c < columns && c < (g + 1) * group; ++c) {
        part += static_cast<long long>(w[row * columns + c]) * x[c];
      }
      sum += part * scales[row * groups + g];
    }
    y[row] = sum;
  }
}
