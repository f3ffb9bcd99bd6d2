// Ties the calling thread to the measuring core for a while: examiner and workers take turns there, so that
// no sample waits for a wake-up on another core and the inputs lie in the caches of the core that reads them.
#pragma once

#include <sched.h>

namespace tunesmith::bench {

/// The last core that this process may use: interrupts and other programs prefer the first.
[[nodiscard]] int measuring_core();

class PinnedThread {
 public:
  explicit PinnedThread(int core);  ///< -1 pins nothing
  ~PinnedThread();
  PinnedThread(const PinnedThread&) = delete;
  PinnedThread& operator=(const PinnedThread&) = delete;

 private:
  cpu_set_t m_before{};
  bool m_pinned = false;
};

}  // namespace tunesmith::bench
