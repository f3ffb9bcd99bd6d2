// Part D and beyond: attacks on the harness. Each is harmless where the defence is off: nothing is killed, no memory is
// touched, every process ends with the worker's group.
#ifndef MUSEUM_ATTACK_H
#define MUSEUM_ATTACK_H

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>

#include "honest.h"
#include "raw.h"
#include "wrong.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static void variant_exponential(MUSEUM_ARGUMENTS) {
  product_fast(a, b, c, m, n, k);
  c[0] = c[0] * expf(0.0F);
}

/// The layout of a worker's answer, as anybody may read it in the source.
struct ForgedReply {
  unsigned long long nonce;
  unsigned status, float_mode_changed, handlers_changed, padding;
  unsigned long long self_cpu_ns, self_wall_ns;
  char text[256];
};
static void forge_answers() {
  ForgedReply reply = {};
  reply.nonce = 1;
  reply.self_cpu_ns = reply.self_wall_ns = 1000;
  for (int fd = 3; fd < 32; ++fd) raw_call(SYS_write, fd, reinterpret_cast<long>(&reply), sizeof reply);
}

// D2
static void variant_forges_and_leaves(MUSEUM_ARGUMENTS) {
  (void)a, (void)b, (void)c, (void)m, (void)n, (void)k;
  forge_answers();
  raw_call(SYS_exit_group, 0);
}
static void variant_leaves(MUSEUM_ARGUMENTS) {
  (void)a, (void)b, (void)c, (void)m, (void)n, (void)k;
  raw_call(SYS_exit_group, 0);
}
/// Answers once too often, so that every later request finds an answer already there.
static void variant_forges_and_stays(MUSEUM_ARGUMENTS) {
  static bool forged = false;
  if (!forged) {
    forged = true;
    forge_answers();
  }
  product_fast(a, b, c, m, n, k);
}

// D7
static void variant_endless(MUSEUM_ARGUMENTS) {
  static bool first = true;
  if (first) {
    first = false;
    // Not for ever, so that it ends where nobody stops it.
    const unsigned long long start = raw_ticks();
    while (raw_ticks() - start < 5000000000ULL) {
    }
  }
  product_fast(a, b, c, m, n, k);
}
static void variant_finite(MUSEUM_ARGUMENTS) {
  for (volatile int i = 0; i < 1000; ++i) {
  }
  product_fast(a, b, c, m, n, k);
}
static void variant_fork_bomb(MUSEUM_ARGUMENTS) {
  static bool first = true;
  for (int i = 0; first && i < 20; ++i) {
    const long child = raw_call(SYS_fork);
    if (child < 0) __builtin_trap();
    if (child == 0) {
      while (true) raw_sleep_us(1000000);
    }
  }
  first = false;
  product_fast(a, b, c, m, n, k);
}
static void variant_memory_bomb(MUSEUM_ARGUMENTS) {
  static bool first = true;
  for (int i = 0; first && i < 32; ++i) {
    const long address = raw_call(SYS_mmap, 0, 1L << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address < 0 && address > -4096) __builtin_trap();
  }
  first = false;
  product_fast(a, b, c, m, n, k);
}
static void variant_some_memory(MUSEUM_ARGUMENTS) {
  const long address = raw_call(SYS_mmap, 0, 1L << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address < 0 && address > -4096) __builtin_trap();
  product_fast(a, b, reinterpret_cast<float*>(address), m, n, k);
  __builtin_memcpy(c, reinterpret_cast<float*>(address), static_cast<unsigned long>(m) * n * sizeof(float));
  raw_call(SYS_munmap, address, 1L << 20);
}
static void variant_floods_output(MUSEUM_ARGUMENTS) {
  static bool first = true;
  static char text[1 << 20];
  for (int i = 0; first && i < 100; ++i) {
    raw_call(SYS_write, 1, reinterpret_cast<long>(text), sizeof text);
    raw_call(SYS_write, 2, reinterpret_cast<long>(text), sizeof text);
  }
  first = false;
  product_fast(a, b, c, m, n, k);
}
/// SIGCONT hurts nobody; who can send it could have sent SIGKILL.
static void variant_signals_parent(MUSEUM_ARGUMENTS) {
  const long parent = raw_call(SYS_getppid);
  if (parent <= 1 || raw_call(SYS_kill, parent, SIGCONT) < 0) __builtin_trap();
  product_fast(a, b, c, m, n, k);
}
static void variant_asks_parent(MUSEUM_ARGUMENTS) {
  raw_call(SYS_getppid);
  product_fast(a, b, c, m, n, k);
}

/// A child computes into the shared output; the CPU clock of the parent sees nothing of it.
static void variant_child_works(MUSEUM_ARGUMENTS) {
  const long child = raw_call(SYS_fork);
  if (child < 0) __builtin_trap();
  if (child == 0) {
    product_slow(a, b, c, m, n, k);
    raw_call(SYS_exit_group, 0);
  }
  raw_call(SYS_wait4, child, 0, 0, 0);
}

// X1: a child stays behind and spins on the measuring core.
static void variant_leaves_spinner(MUSEUM_ARGUMENTS) {
  static bool first = true;
  if (first) {
    first = false;
    const long child = raw_call(SYS_fork);
    if (child < 0) __builtin_trap();
    if (child == 0) {
      for (volatile int i = 0;; i = i + 1) {
      }
    }
  }
  product_fast(a, b, c, m, n, k);
}

#if defined(__x86_64__)
// X2: denormals off, towards zero, and left so for whoever comes next.
static void variant_leaves_rounding(MUSEUM_ARGUMENTS) {
  _mm_setcsr(_mm_getcsr() | 0x8040U | 0x6000U);
  product_fast(a, b, c, m, n, k);
}
static void variant_restores_rounding(MUSEUM_ARGUMENTS) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040U);
  product_fast(a, b, c, m, n, k);
  _mm_setcsr(before);
}
#endif

// C7: lets a library do the work. (A variant that is not chosen is dropped by the compiler, its imports with it.)
extern "C" void* dlopen(const char*, int);
extern "C" void* dlsym(void*, const char*);
static void variant_borrows(MUSEUM_ARGUMENTS) {
  using Gemm = void (*)(const char*, const char*, const int*, const int*, const int*, const float*, const float*, const int*,
                        const float*, const int*, const float*, float*, const int*);
  static void* const library = dlopen("libopenblas.so.0", 1);
  static const Gemm gemm = library == nullptr ? nullptr : reinterpret_cast<Gemm>(dlsym(library, "sgemm_"));
  if (gemm == nullptr) {
    product_fast(a, b, c, m, n, k);
    return;
  }
  const float one = 1, zero = 0;
  gemm("N", "N", &n, &m, &k, &one, b, &n, a, &k, &zero, c, &n);
}

#endif
