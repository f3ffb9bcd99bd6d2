// System calls without libc: a cheat that imports nothing passes any look at its symbols, so these go around that
// defence and meet the one behind it.
#ifndef MUSEUM_RAW_H
#define MUSEUM_RAW_H

#include <linux/futex.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
static inline long raw_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
  return result;
}

/// A thread of this process that runs `body` for ever on a stack of its own. Negative: refused.
static long raw_thread(void (*body)()) {
  // A function finds its stack eight bytes off a multiple of 16.
  alignas(16) static unsigned char stack[65536];
  // CLONE_VM | FS | FILES | SIGHAND | THREAD | SYSVSEM
  const long flags = 0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x40000;
  void** top = reinterpret_cast<void**>(stack + sizeof stack - 72);
  *top = reinterpret_cast<void*>(body);
  long result;
  register long r10 __asm__("r10") = 0;
  register long r8 __asm__("r8") = 0;
  // The child finds `body` on its new stack; it must not return into the parent's frames.
  __asm__ volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xor %%ebp, %%ebp\n\t"
      "pop %%rax\n\t"
      "call *%%rax\n\t"
      "ud2\n\t"
      "1:"
      : "=a"(result)
      : "a"(static_cast<long>(SYS_clone)), "D"(flags), "S"(top), "d"(0L), "r"(r10), "r"(r8)
      : "rcx", "r11", "memory");
  return result;
}

static inline unsigned long long raw_ticks() {
  unsigned low, high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
  return (static_cast<unsigned long long>(high) << 32) | low;
}
#endif

struct RawTime {
  long seconds, nanoseconds;
};

static inline void raw_sleep_us(long microseconds) {
  RawTime time = {microseconds / 1000000, (microseconds % 1000000) * 1000};
  raw_call(SYS_nanosleep, reinterpret_cast<long>(&time), 0);
}

#endif
