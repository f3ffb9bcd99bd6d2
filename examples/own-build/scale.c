/* y[i] = a * x[i], the kernel of a project with a build system of its own. */
#ifndef UNROLL
#define UNROLL 1
#endif
void scale(const float* x, float* y, float a, int n) {
  int i = 0;
#if UNROLL > 1
  for (; i + UNROLL <= n; i += UNROLL) {
    for (int j = 0; j < UNROLL; ++j) y[i + j] = a * x[i + j];
  }
#endif
  for (; i < n; ++i) y[i] = a * x[i];
}
