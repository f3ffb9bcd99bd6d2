// What the tuning loop sees of a bench: open it, build candidates in parallel, measure one at a time against
// the incumbent, confirm the winner. A backend is one implementation; the loop's tests use a fake one.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "case/candidate.h"
#include "case/case.h"
#include "case/evidence.h"

namespace tunesmith::bench {

struct BenchOptions {
  std::string run_folder;        ///< logs go to <run_folder>/logs/<identity>.log; "" = a temporary folder
  std::uint64_t seed = 1;        ///< of everything random except the inputs
  std::uint64_t input_seed = 0;  ///< secret, from the run; 0 = draw one
  int build_jobs = 0;            ///< 0 = number of cores
  double minimum_effect = 0.01;
  std::size_t minimum_pairs = 8;
  std::size_t maximum_pairs = 120;
  std::size_t confirm_pairs = 400;
  bool trust_self_reported = false;
  const std::atomic<bool>* stop =
      nullptr;  ///< set by Ctrl-C; long work returns early with ErrorCode::interrupted
  /// Backend replay adds to it what each evaluation cost when it was recorded; nullptr: nothing is charged.
  std::atomic<std::int64_t>* simulated_ns = nullptr;
  /// Defence names switched off: only tests/cheats and `selftest` set it, and the result says so.
  std::vector<std::string> defences_off;
};

/// What opening the bench established.
struct Opening {
  Evidence baseline;               ///< timing of the baseline alone, every scored shape
  std::string toolchain;           ///< compiler version line: part of every identity
  std::string isolation;           ///< layers that stand on this machine
  std::vector<std::string> notes;  ///< for people, e.g. "no netns: sockets are closed by seccomp alone"
};

/// A built candidate, ready to load. Opaque to the loop.
struct Built {
  BuildEvidence evidence;
  std::string library;  ///< path; "" unless evidence.outcome is ok
  std::string glue;     ///< library that calls it, for libraries that we did not compile; "" otherwise
};

class Bench {
 public:
  virtual ~Bench() = default;
  /// Lints the case (zeros, ones, NaN, copy of input, stale output must FAIL; the baseline must PASS), runs
  /// the canaries (wrong mutant fails, slowed mutant shows as slower), builds and times the baseline, makes
  /// it incumbent.
  [[nodiscard]] virtual Result<Opening> open() = 0;
  [[nodiscard]] virtual Result<std::string> identity(const Candidate& candidate) = 0;
  /// Same order as asked. Never fails as a whole: each entry says what happened to it.
  [[nodiscard]] virtual std::vector<Built> build(std::span<const Candidate> candidates) = 0;
  /// Check on every scored shape, then time against the incumbent under the measuring lock.
  [[nodiscard]] virtual Evidence measure(const Candidate& candidate, const Built& built) = 0;
  /// The candidate becomes the incumbent that later ones race; nullptr = the baseline.
  [[nodiscard]] virtual Status set_incumbent(const Candidate* candidate, const Built* built,
                                             double log_ratio_to_baseline) = 0;
  /// Winner against the baseline: rebuilt, fresh processes, fresh seeds, held-out shapes, confirm_pairs
  /// pairs.
  [[nodiscard]] virtual Evidence confirm(const Candidate& candidate) = 0;
};

struct BackendInfo {
  std::string_view name;
  std::string_view summary;
  Result<std::unique_ptr<Bench>> (*make)(const Case& c, const BenchOptions& options);
};
[[nodiscard]] const std::vector<BackendInfo>& backend_table();
[[nodiscard]] Result<std::unique_ptr<Bench>> make_bench(const Case& c, const BenchOptions& options);

}  // namespace tunesmith::bench
