// What tune and bench share: a run's header, its folder and its bench.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "app/command.h"
#include "app/inputs.h"
#include "bench/bench.h"
#include "tune/journal.h"

namespace tunesmith::app {

struct RunPlan {
  std::string strategy;
  std::uint64_t seed = 0;
  std::uint64_t evaluations = 0;
  std::uint64_t no_improve = 0;  ///< stop after so many batches without an improvement; 0 = never
  double near_light = 0;         ///< stop at this percentage of the speed of light; 0 = never
  double minutes = 0;
  std::uint64_t batch = 1;
  bool trust_self_reported = false;
  bool simulated_clock = false;  ///< time is what the replayed evaluations cost when they were recorded
};

/// A new header for a case: hashes of case, gate and objective, machine, toolchain, and in `extra` the texts
/// themselves so that the run explains itself after its files have changed.
[[nodiscard]] Result<tune::RunHeader> make_header(const Rules& rules, const Arguments& arguments,
                                                  const RunPlan& plan);

[[nodiscard]] bool has_simulated_clock(const tune::RunHeader& header);
[[nodiscard]] bench::BenchOptions bench_options(const tune::RunHeader& header, const std::string& run_folder,
                                                const std::atomic<bool>* stop);

/// Writes a result where nothing stands yet: another run's result, sealed or not, is never overwritten.
[[nodiscard]] Status refuse_existing(const std::string& path);
[[nodiscard]] Status write_new_file(const std::string& path, const std::string& text);

}  // namespace tunesmith::app
