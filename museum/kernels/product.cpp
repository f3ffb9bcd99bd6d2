// The museum's matrix product: VARIANT names a cheat or an honest kernel in one of the headers below.
#include "wrong.h"
#include "clock.h"
#include "memory.h"
#include "attack.h"

#ifndef VARIANT
#define VARIANT slow
#endif
#define MUSEUM_PASTE(name) variant_##name
#define MUSEUM_VARIANT(name) MUSEUM_PASTE(name)

extern "C" __attribute__((noinline)) void product(const float* a, const float* b, float* c, int m, int n, int k) {
  MUSEUM_VARIANT(VARIANT)(a, b, c, m, n, k);
}
