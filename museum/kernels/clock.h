// Part B: time that is not the time.
#ifndef MUSEUM_CLOCK_H
#define MUSEUM_CLOCK_H

#include <elf.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

#include "honest.h"
#include "raw.h"
#include "wrong.h"

struct Job {
  const float *a, *b;
  float* c;
  int m, n, k;
};
static Job job;
static volatile int job_number = 0;
static bool thread_started = false;

// B1: hands the job over and returns; the thread comes round to it later.
static void finish_later() {
  int done = 0;
  while (true) {
    raw_sleep_us(3000);
    if (job_number == done) continue;
    done = job_number;
    product_fast(job.a, job.b, job.c, job.m, job.n, job.k);
  }
}
static void variant_detached(MUSEUM_ARGUMENTS) {
  if (!thread_started) {
    thread_started = true;
    raw_thread(finish_later);
  }
  job = {a, b, c, m, n, k};
  job_number = job_number + 1;
  // Some work must show, or the time is a plain zero.
  const unsigned long long start = raw_ticks();
  while (raw_ticks() - start < 60000) {
  }
}

// B2: a thread that works on after the call has returned.
static void work_between() {
  static float ahead[128 * 128];
  while (true) {
    raw_sleep_us(50);
    product_fast(job.a, job.b, ahead, job.m, job.n, job.k);
  }
}
static void variant_between_calls(MUSEUM_ARGUMENTS) {
  job = {a, b, c, m, n, k};
  if (!thread_started) {
    thread_started = true;
    if (raw_thread(work_between) < 0) return;
  }
  product_fast(a, b, c, m, n, k);
}

// B7: a thread reads the inputs again and again, so that the flush of the caches is undone.
static void keep_warm() {
  float sum = 0;
  while (true) {
    raw_sleep_us(20);
    for (int i = 0; i < job.m * job.k; i += 16) sum += job.a[i];
    for (int i = 0; i < job.k * job.n; i += 16) sum += job.b[i];
    __asm__ volatile("" : : "r"(&sum) : "memory");
  }
}
static void variant_keeps_warm(MUSEUM_ARGUMENTS) {
  job = {a, b, c, m, n, k};
  if (!thread_started) {
    thread_started = true;
    if (raw_thread(keep_warm) < 0) return;
  }
  product_fast(a, b, c, m, n, k);
}
static void variant_prefetches(MUSEUM_ARGUMENTS) {
  for (int i = 0; i < k * n; i += 16) __builtin_prefetch(b + i);
  product_fast(a, b, c, m, n, k);
}

#if defined(__x86_64__)
// B3: takes the page away and computes when somebody looks.
struct KernelAction {
  void (*handler)(int, siginfo_t*, void*);
  unsigned long flags;
  void (*restorer)();
  unsigned long mask;
};
__asm__(".text\n.type museum_restore,@function\nmuseum_restore:\n mov $15, %eax\n syscall\n");
extern "C" void museum_restore() __attribute__((visibility("hidden")));
static void compute_now(int, siginfo_t* info, void*) {
  const long page = reinterpret_cast<long>(job.c) & ~4095L;
  const long end = reinterpret_cast<long>(job.c + job.m * job.n);
  const long touched = reinterpret_cast<long>(info->si_addr);
  if (touched < page || touched >= end) {  // the output of an earlier call
    raw_call(SYS_mprotect, touched & ~4095L, 4096, PROT_READ | PROT_WRITE);
    return;
  }
  raw_call(SYS_mprotect, page, (end - page + 4095) & ~4095L, PROT_READ | PROT_WRITE);
  product_fast(job.a, job.b, job.c, job.m, job.n, job.k);
}
static void take_over_faults() {
  const KernelAction action = {compute_now, SA_SIGINFO | SA_NODEFER | 0x04000000UL, museum_restore, 0};
  raw_call(SYS_rt_sigaction, SIGSEGV, reinterpret_cast<long>(&action), 0, 8);
}
static void variant_lazy(MUSEUM_ARGUMENTS) {
  job = {a, b, c, m, n, k};
  take_over_faults();
  const long page = reinterpret_cast<long>(c) & ~4095L;
  const long end = reinterpret_cast<long>(c + m * n);
  raw_call(SYS_mprotect, page, (end - page + 4095) & ~4095L, PROT_NONE);
  const unsigned long long start = raw_ticks();
  while (raw_ticks() - start < 60000) {
  }
}
/// Only takes the handler: an honest result, and a process that would not tell its faults any more.
static void variant_takes_handler(MUSEUM_ARGUMENTS) {
  job = {a, b, c, m, n, k};
  take_over_faults();
  product_fast(a, b, c, m, n, k);
}

// B4: finds the worker's own program by its return address and bends the clock in its table of imported functions.
static int forged_clock(clockid_t id, timespec* now) {
  static long first[16];
  const long result = raw_call(SYS_clock_gettime, id, reinterpret_cast<long>(now));
  const long ns = now->tv_sec * 1000000000L + now->tv_nsec;
  long& start = first[id & 15];
  if (start == 0) start = ns;
  const long forged = start + (ns - start) / 8;
  now->tv_sec = forged / 1000000000L;
  now->tv_nsec = forged % 1000000000L;
  return static_cast<int>(result);
}
static bool same_name(const char* x, const char* y) {
  while (*x != 0 && *x == *y) ++x, ++y;
  return *x == *y;
}
static void bend_clock(void* inside) {
  const char* base = reinterpret_cast<const char*>(reinterpret_cast<unsigned long>(inside) & ~4095UL);
  while (__builtin_memcmp(base, ELFMAG, SELFMAG) != 0) base -= 4096;
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(base);
  const auto* segment = reinterpret_cast<const Elf64_Phdr*>(base + header->e_phoff);
  const char* load = header->e_type == ET_DYN ? base : nullptr;
  const Elf64_Dyn* dynamic = nullptr;
  for (int i = 0; i < header->e_phnum; ++i) {
    if (segment[i].p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const Elf64_Dyn*>(load + segment[i].p_vaddr);
  }
  const Elf64_Rela* tables[2] = {nullptr, nullptr};
  unsigned long sizes[2] = {0, 0};
  const Elf64_Sym* symbols = nullptr;
  const char* strings = nullptr;
  for (; dynamic != nullptr && dynamic->d_tag != DT_NULL; ++dynamic) {
    // The loader has turned these into addresses.
    if (dynamic->d_tag == DT_JMPREL) tables[0] = reinterpret_cast<const Elf64_Rela*>(dynamic->d_un.d_ptr);
    if (dynamic->d_tag == DT_PLTRELSZ) sizes[0] = dynamic->d_un.d_val;
    if (dynamic->d_tag == DT_RELA) tables[1] = reinterpret_cast<const Elf64_Rela*>(dynamic->d_un.d_ptr);
    if (dynamic->d_tag == DT_RELASZ) sizes[1] = dynamic->d_un.d_val;
    if (dynamic->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const Elf64_Sym*>(dynamic->d_un.d_ptr);
    if (dynamic->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(dynamic->d_un.d_ptr);
  }
  for (int t = 0; t < 2; ++t) {
    for (unsigned long i = 0; tables[t] != nullptr && i < sizes[t] / sizeof(Elf64_Rela); ++i) {
      const Elf64_Rela& one = tables[t][i];
      const unsigned long type = ELF64_R_TYPE(one.r_info);
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
      if (!same_name(strings + symbols[ELF64_R_SYM(one.r_info)].st_name, "clock_gettime")) continue;
      const long slot = reinterpret_cast<long>(load + one.r_offset);
      raw_call(SYS_mprotect, slot & ~4095L, 4096, PROT_READ | PROT_WRITE);
      *reinterpret_cast<int (**)(clockid_t, timespec*)>(slot) = forged_clock;
    }
  }
}
/// Twice the baseline's work, told by a clock that runs at an eighth of the speed.
__attribute__((always_inline)) static inline void variant_bends_clock(MUSEUM_ARGUMENTS) {
  static bool bent = false;
  if (!bent) {
    bent = true;
    bend_clock(__builtin_return_address(0));
  }
  product_slow(a, b, c, m, n, k);
  __asm__ volatile("" : : : "memory");
  product_slow(a, b, c, m, n, k);
}
#endif

static void variant_twice(MUSEUM_ARGUMENTS) {
  product_slow(a, b, c, m, n, k);
  __asm__ volatile("" : : : "memory");
  product_slow(a, b, c, m, n, k);
}

#endif
