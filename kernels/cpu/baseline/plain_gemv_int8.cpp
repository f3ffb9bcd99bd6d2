// The quantised product as one writes it for the compiler to vectorise: an int32 sum in each group, one scale
// after it.

extern "C" void gemv_int8(const signed char* w, const unsigned char* scales, const signed char* x,
                          long long* y, int* /*work*/, int rows, int columns, int group) {
  const int groups = (columns + group - 1) / group;
  for (int row = 0; row < rows; ++row) {
    const signed char* weights = w + static_cast<long>(row) * columns;
    long long sum = 0;
    for (int g = 0; g < groups; ++g) {
      const int begin = g * group;
      const int end = begin + group < columns ? begin + group : columns;
      int part = 0;
      for (int c = begin; c < end; ++c) part += weights[c] * x[c];
      sum += static_cast<long long>(part) * scales[static_cast<long>(row) * groups + g];
    }
    y[row] = sum;
  }
}
