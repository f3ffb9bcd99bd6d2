#include "bench/pinning.h"

namespace tunesmith::bench {

int measuring_core() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return -1;
  for (int core = CPU_SETSIZE - 1; core >= 0; --core) {
    if (CPU_ISSET(core, &allowed)) return core;
  }
  return -1;
}

PinnedThread::PinnedThread(int core) {
  if (core < 0 || sched_getaffinity(0, sizeof m_before, &m_before) != 0) return;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  m_pinned = sched_setaffinity(0, sizeof one, &one) == 0;
}

PinnedThread::~PinnedThread() {
  if (m_pinned) sched_setaffinity(0, sizeof m_before, &m_before);
}

}  // namespace tunesmith::bench
