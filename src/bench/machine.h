// Facts of this machine and its speed of light: measured once, cached in
// $XDG_CACHE_HOME/tunesmith/machine.json (keyed by CPU model, core count and program version), shown by
// `tunesmith machine`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace tunesmith::bench {

struct Machine {
  std::string cpu_model;
  int cores = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t l1d_bytes = 0, l2_bytes = 0, llc_bytes = 0;
  double fma_f32_gflops = 0;  ///< best seen, one core, widest vectors
  double fma_f64_gflops = 0;
  double int8_gops = 0;    ///< best of the machine's int8 dot product forms, one core
  double read_gbytes = 0;  ///< from memory, one core, best seen
  double read_l2_gbytes = 0, read_llc_gbytes = 0;
  std::string kernel;          ///< uname -r
  std::string virtualisation;  ///< "kvm", "none", …
};

/// From the cache, or measured (about two seconds) under the measuring lock and cached.
[[nodiscard]] Result<Machine> machine_facts(bool measure_again = false);
[[nodiscard]] json::object machine_to_json(const Machine& machine);

/// Least possible time: flops at peak or bytes at the bandwidth of the level that holds them, whichever is
/// more, with a margin of 10 % for what the measurement of the peak missed. 0 when unknown.
[[nodiscard]] double speed_of_light_ms(const Machine& machine, const std::string& dtype, double flops,
                                       double bytes, int threads);

/// Exclusive per machine: an flock in the runtime folder; waits up to `wait_seconds`, and says who holds it.
class MeasuringLock {
 public:
  [[nodiscard]] static Result<MeasuringLock> take(double wait_seconds = 600);
  MeasuringLock(MeasuringLock&&) noexcept;
  MeasuringLock& operator=(MeasuringLock&&) noexcept;
  ~MeasuringLock();

 private:
  explicit MeasuringLock(int fd) : m_fd(fd) {}
  int m_fd;
};

}  // namespace tunesmith::bench
