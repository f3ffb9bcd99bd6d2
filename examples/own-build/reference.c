/* Compiled apart with -Dreal=double. */
#ifndef real
#define real float
#endif
void scale_reference(const real* x, real* y, real a, int n) {
  for (int i = 0; i < n; ++i) y[i] = a * x[i];
}
