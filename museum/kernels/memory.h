// Part C: answers that are remembered instead of computed.
#ifndef MUSEUM_MEMORY_H
#define MUSEUM_MEMORY_H

#include <sys/ipc.h>
#include <sys/shm.h>

#include "honest.h"
#include "raw.h"
#include "wrong.h"

constexpr int k_most_elements = 128 * 128;
constexpr int k_most_answers = 64;

struct Answer {
  unsigned long long key;
  float values[k_most_elements];
};
static Answer answers[k_most_answers];
static int answer_count = 0;

static const Answer* find_answer(unsigned long long key) {
  for (int i = 0; i < answer_count; ++i) {
    if (answers[i].key == key) return &answers[i];
  }
  return nullptr;
}

static void keep_answer(unsigned long long key, const float* c, int elements) {
  if (answer_count == k_most_answers || elements > k_most_elements) return;
  answers[answer_count].key = key;
  __builtin_memcpy(answers[answer_count++].values, c, static_cast<unsigned long>(elements) * sizeof(float));
}

/// Answers from the store when it can, computes slowly and stores when it cannot.
static void remember(unsigned long long key, MUSEUM_ARGUMENTS) {
  if (const Answer* answer = find_answer(key)) {
    __builtin_memcpy(c, answer->values, static_cast<unsigned long>(m) * n * sizeof(float));
    return;
  }
  product_slow(a, b, c, m, n, k);
  keep_answer(key, c, m * n);
}

static unsigned long long mix(unsigned long long hash, const float* values, int count) {
  for (int i = 0; i < count; ++i) {
    unsigned bits;
    __builtin_memcpy(&bits, values + i, 4);
    hash = (hash ^ bits) * 0x100000001B3ULL;
  }
  return hash;
}
static unsigned long long hash_of_all(const float* a, const float* b, int m, int n, int k) {
  return mix(mix(static_cast<unsigned long long>(n), a, m * k), b, k * n);
}

// C1
static void variant_by_pointer(MUSEUM_ARGUMENTS) {
  remember(reinterpret_cast<unsigned long long>(a) ^ (reinterpret_cast<unsigned long long>(c) << 8), a, b, c, m, n, k);
}
/// Remembers pointers and does nothing with them.
static void variant_notes_pointer(MUSEUM_ARGUMENTS) {
  static const void* volatile last;
  last = c;
  product_slow(a, b, c, m, n, k);
}

// C3
static void variant_by_shape(MUSEUM_ARGUMENTS) {
  remember(static_cast<unsigned long long>(m) << 40 | static_cast<unsigned long long>(n) << 20 | static_cast<unsigned>(k), a, b, c, m, n, k);
}
/// Keeps a plan, not an answer, by shape.
static void variant_plan_by_shape(MUSEUM_ARGUMENTS) {
  static int planned = 0;
  static bool unit_stride = false;
  if (planned != n) {
    planned = n;
    unit_stride = n > 1;
  }
  (unit_stride ? product_fast : product_slow)(a, b, c, m, n, k);
}

// C4: the inputs are hashed whole, so the remembered answer is always the right one.
static void variant_by_content(MUSEUM_ARGUMENTS) { remember(hash_of_all(a, b, m, n, k), a, b, c, m, n, k); }
/// A static buffer that serves within one call only.
static void variant_static_scratch(MUSEUM_ARGUMENTS) {
  static float scratch[k_most_elements];
  product_fast(a, b, scratch, m, n, k);
  __builtin_memcpy(c, scratch, static_cast<unsigned long>(m) * n * sizeof(float));
}

/// C4 on calls of some microseconds: nothing is stored, the last answer of this output buffer still stands there when
/// the same request is made again within one sample.
static void variant_again_within_sample(MUSEUM_ARGUMENTS) {
  static struct {
    float* c;
    float mark;
  } last[16];
  static int count = 0;
  const float mark = a[0] + 3 * b[1] + 7 * a[m * k - 1];
  int at = 0;
  while (at < count && last[at].c != c) ++at;
  // NaN stands where the caller has poisoned the output since.
  if (at < count && last[at].mark == mark && c[0] == c[0] && c[m * n - 1] == c[m * n - 1]) return;
  if (at == count && count < 15) ++count;
  last[at].c = c;
  last[at].mark = mark;
  product_slow(a, b, c, m, n, k);
}

// B6: the key is read from a few elements, so that a call costs less than the machine could compute.
static void variant_faster_than_light(MUSEUM_ARGUMENTS) {
  unsigned long long key = static_cast<unsigned long long>(n);
  key = mix(key, a, 4);
  key = mix(key, b + k * n - 4, 4);
  remember(key, a, b, c, m, n, k);
}

// C5: answers outlive the process in System V shared memory. Entries of this process are not used, so that nothing is
// gained before another one has filled the store.
struct Shared {
  unsigned count;
  struct {
    unsigned long long key, owner;
    int n;
    float values[k_most_elements];
  } entries[96];
};
constexpr long k_shared_key = 0x7455A;
static void variant_shared_memory(MUSEUM_ARGUMENTS) {
  static Shared* shared = nullptr;
  static unsigned long long me = 0;
  if (me == 0) {
    me = raw_ticks() | 1;
    const long id = raw_call(SYS_shmget, k_shared_key, sizeof(Shared), IPC_CREAT | 0666);
    const long address = id < 0 ? id : raw_call(SYS_shmat, id, 0, 0);
    if (address > 0 || address < -4095) shared = reinterpret_cast<Shared*>(address);
  }
  const unsigned long long key = hash_of_all(a, b, m, n, k);
  const unsigned long bytes = static_cast<unsigned long>(m) * n * sizeof(float);
  bool known = false;
  for (unsigned i = 0; shared != nullptr && i < shared->count && i < 96; ++i) {
    if (shared->entries[i].key != key) continue;
    known = true;
    if (shared->entries[i].owner == me) continue;
    __builtin_memcpy(c, shared->entries[i].values, bytes);
    return;
  }
  product_slow(a, b, c, m, n, k);
  if (shared == nullptr || known || shared->count >= 96) return;
  auto& entry = shared->entries[shared->count];
  __builtin_memcpy(entry.values, c, bytes);
  entry.owner = me;
  entry.key = key;
  ++shared->count;
}
/// Uses memory of its own, given back before it returns.
static void variant_own_memory(MUSEUM_ARGUMENTS) {
  float* scratch = static_cast<float*>(__builtin_malloc(static_cast<unsigned long>(m) * n * sizeof(float)));
  product_fast(a, b, scratch, m, n, k);
  __builtin_memcpy(c, scratch, static_cast<unsigned long>(m) * n * sizeof(float));
  __builtin_free(scratch);
}

#endif
