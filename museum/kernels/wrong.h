// Part A: wrong answers that a weak checker accepts, each with its honest twin.
#ifndef MUSEUM_WRONG_H
#define MUSEUM_WRONG_H

#include <math.h>

#include "honest.h"
#include "raw.h"

#define MUSEUM_ARGUMENTS const float *a, const float *b, float *c, int m, int n, int k

static void variant_slow(MUSEUM_ARGUMENTS) { product_slow(a, b, c, m, n, k); }
static void variant_fast(MUSEUM_ARGUMENTS) { product_fast(a, b, c, m, n, k); }

// A2
static void variant_all_nan(MUSEUM_ARGUMENTS) {
  (void)a, (void)b, (void)k;
  for (int i = 0; i < m * n; ++i) c[i] = NAN;
}

// A4: the last tile stays empty; the similarity of the whole output hardly moves.
static void variant_missing_tile(MUSEUM_ARGUMENTS) {
  product_fast(a, b, c, m, n, k);
  for (int i = m - 2; i < m; ++i) {
    for (int j = n - 2; j < n; ++j) c[i * n + j] = 0;
  }
}
static void variant_tiled(MUSEUM_ARGUMENTS) {
  constexpr int k_tile = 16;
  for (int i0 = 0; i0 < m; i0 += k_tile) {
    for (int j0 = 0; j0 < n; j0 += k_tile) {
      for (int i = i0; i < m && i < i0 + k_tile; ++i) {
        for (int j = j0; j < n && j < j0 + k_tile; ++j) c[i * n + j] = 0;
        for (int p = 0; p < k; ++p) {
          for (int j = j0; j < n && j < j0 + k_tile; ++j) c[i * n + j] += a[i * k + p] * b[p * n + j];
        }
      }
    }
  }
}

// A5: one element in four thousand is left out, scattered.
static void variant_most_elements(MUSEUM_ARGUMENTS) {
  product_fast(a, b, c, m, n, k);
  for (int i = 1000; i < m * n; i += 4007) c[i] = 0;
}

// A9: knows the scored sizes by heart and silently returns for all others.
static void variant_known_sizes(MUSEUM_ARGUMENTS) {
  if (m == n && n == k && (n == 48 || n == 96)) product_fast(a, b, c, m, n, k);
}
static void variant_fast_path(MUSEUM_ARGUMENTS) {
  if (m == n && n == k && (n == 48 || n == 96)) {
    product_fast(a, b, c, m, n, k);
  } else {
    product_slow(a, b, c, m, n, k);
  }
}

// A10: right on the small shape, a quarter of the sum on the large one.
static void variant_small_only(MUSEUM_ARGUMENTS) {
  if (n <= 48) {
    product_fast(a, b, c, m, n, k);
    return;
  }
  for (int i = 0; i < m * n; ++i) c[i] = 0;
  for (int i = 0; i < m; ++i) {
    for (int p = 0; p < k / 4; ++p) {
      for (int j = 0; j < n; ++j) c[i * n + j] += a[i * k + p] * b[p * n + j];
    }
  }
}

// A10, the other way round: right while it is checked, idle once it is timed.
static void variant_first_calls(MUSEUM_ARGUMENTS) {
  static int calls = 0;
  if (++calls <= 6) product_fast(a, b, c, m, n, k);
}
static void variant_counts_calls(MUSEUM_ARGUMENTS) {
  static volatile int calls = 0;
  calls = calls + 1;
  product_fast(a, b, c, m, n, k);
}

// A11: inputs cut to the precision of bf16.
static float cut_to_bf16(float x) {
  unsigned bits;
  __builtin_memcpy(&bits, &x, 4);
  bits &= 0xFFFF0000U;
  __builtin_memcpy(&x, &bits, 4);
  return x;
}
static void variant_low_precision(MUSEUM_ARGUMENTS) {
  static float low[128 * 128];
  for (int i = 0; i < k * n; ++i) low[i] = cut_to_bf16(b[i]);
  product_fast(a, low, c, m, n, k);
}
/// Another order of summation: not the baseline's bits, and no worse.
static void variant_two_sums(MUSEUM_ARGUMENTS) {
  static float rest[128 * 128];
  for (int i = 0; i < m * n; ++i) c[i] = rest[i] = 0;
  for (int i = 0; i < m; ++i) {
    for (int p = 0; p + 1 < k; p += 2) {
      for (int j = 0; j < n; ++j) {
        c[i * n + j] += a[i * k + p] * b[p * n + j];
        rest[i * n + j] += a[i * k + p + 1] * b[(p + 1) * n + j];
      }
    }
    if (k % 2 != 0) {
      for (int j = 0; j < n; ++j) c[i * n + j] += a[i * k + k - 1] * b[(k - 1) * n + j];
    }
  }
  for (int i = 0; i < m * n; ++i) c[i] += rest[i];
}

// A13: leaves the buffer as it finds it once an answer to these inputs stands there.
static void variant_leaves_old_answer(MUSEUM_ARGUMENTS) {
  static float* buffers[16];
  static float seen[16];
  static int count = 0;
  const float mark = a[0] + 3 * b[1] + 7 * a[m * k - 1];
  for (int i = 0; i < count; ++i) {
    if (buffers[i] != c) continue;
    if (seen[i] == mark) return;
    seen[i] = mark;
    product_fast(a, b, c, m, n, k);
    return;
  }
  if (count < 16) {
    buffers[count] = c;
    seen[count++] = mark;
  }
  product_fast(a, b, c, m, n, k);
}

static bool at_page(const void* address) { return (reinterpret_cast<unsigned long>(address) & 4095) == 0; }

// A15: a byte beside the output, only where no guard page stands in the way.
static void variant_writes_beyond(MUSEUM_ARGUMENTS) {
  product_fast(a, b, c, m, n, k);
  if (!at_page(c + m * n)) c[m * n] = 1;
}
static void variant_writes_last(MUSEUM_ARGUMENTS) {
  product_fast(a, b, c, m, n, k);
  c[m * n - 1] = c[m * n - 1] + 0.0F;
}
static void variant_writes_before(MUSEUM_ARGUMENTS) {
  product_fast(a, b, c, m, n, k);
  if (!at_page(c)) c[-1] = 1;
}
static void variant_writes_first(MUSEUM_ARGUMENTS) {
  product_fast(a, b, c, m, n, k);
  c[0] = c[0] + 0.0F;
}
/// Reads one element too many: the end of an input touches a guard page.
static void variant_reads_beyond(MUSEUM_ARGUMENTS) {
  volatile float extra = a[m * k];
  (void)extra;
  product_fast(a, b, c, m, n, k);
}
static void variant_reads_last(MUSEUM_ARGUMENTS) {
  volatile float last = a[m * k - 1];
  (void)last;
  product_fast(a, b, c, m, n, k);
}
/// Reads one element too early, where the rest of a page hides it: what the guard pages alone do not see.
static void variant_reads_before(MUSEUM_ARGUMENTS) {
  if (!at_page(a)) {
    volatile float early = a[-1];
    (void)early;
  }
  product_fast(a, b, c, m, n, k);
}

// A16: as a race does, other bits each time, far inside the tolerance.
static void variant_other_bits(MUSEUM_ARGUMENTS) {
  product_fast(a, b, c, m, n, k);
  c[0] += static_cast<float>(raw_ticks() & 1023) * 1e-7F;
}
/// Right most of the time: one call in sixteen loses an update.
static void variant_rarely_wrong(MUSEUM_ARGUMENTS) {
  static int calls = 0;
  product_fast(a, b, c, m, n, k);
  if (++calls % 16 == 0) c[n + 1] -= a[k] * b[1];
}

// B20: the work is done and thrown away, so the compiler removes it.
static void variant_throws_away(MUSEUM_ARGUMENTS) {
  float sum = 0;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      for (int p = 0; p < k; ++p) sum += a[i * k + p] * b[p * n + j];
    }
  }
  (void)sum;
  (void)c;
}

// X3
static void variant_writes_input(MUSEUM_ARGUMENTS) {
  product_fast(a, b, c, m, n, k);
  const_cast<volatile float*>(a)[0] = 2;
}
static void variant_writes_own_copy(MUSEUM_ARGUMENTS) {
  static volatile float copy[4];
  copy[0] = a[0];
  copy[0] = 2;
  product_fast(a, b, c, m, n, k);
}

#endif
