// Evidence: what the bench found out about one candidate. Merit (numbers), provenance (how it was made) and
// infrastructure (what went wrong that is not the candidate's fault) are kept apart. The judge reads it, the
// journal stores it, a result file shows it. Nothing here was written by a candidate except `log_excerpt`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "case/reason.h"

namespace tunesmith {

/// Comparison of two sides by paired samples.
enum class Comparison { faster, slower, same, ambiguous };
[[nodiscard]] const char* name_of(Comparison comparison);

struct BuildEvidence {
  enum class Outcome { ok, failed, timed_out, forbidden, infra } outcome = Outcome::infra;
  Reason reason = Reason::none;  ///< when not ok
  std::string detail;            ///< one line: first error, candidate's own file and line
  std::string log_path;          ///< the full log, "" when empty
  std::string log_excerpt;       ///< first lines, printable, cut
  std::string identity;          ///< candidate_identity()
  std::string library_sha256;    ///< of the built file: what was measured is what was built
  std::string compiler;          ///< version line
  std::vector<std::string> flags;
  double wall_ms = 0;
  double cpu_ms = 0;           ///< of compiler and linker
  double overhead_cpu_ms = 0;  ///< of launching and judging the build, ours
  bool reused = false;         ///< taken from the build cache
};

struct CheckEvidence {
  int planned = 0;   ///< comparisons that had to be made
  int executed = 0;  ///< comparisons made: fewer than planned is never a pass
  double max_abs_error = 0;
  double max_rel_error = 0;
  double worst_tile_error = 0;  ///< worst tile's maximum over tolerance (1 = at the limit)
  double worst_row_error = 0;
  std::int64_t bad_elements = 0;
  bool passed = false;
};

/// One ABBA quadruple; times per call. Wall times include what the machine did to us, CPU times do not.
struct PairSample {
  double candidate_cpu_ms = 0, incumbent_cpu_ms = 0;
  double candidate_wall_ms = 0, incumbent_wall_ms = 0;
};

struct TimingEvidence {
  int pairs = 0;
  int calls_per_sample = 1;
  double latency_ms = 0;  ///< wall, median, per call
  double cpu_ms = 0;      ///< process CPU, median, per call
  double incumbent_latency_ms = 0;
  double incumbent_cpu_ms = 0;
  double log_ratio = 0;  ///< median of log(candidate / incumbent) on the deciding clock; < 0 is faster
  double log_ratio_low = 0, log_ratio_high = 0;  ///< confidence interval
  double confidence = 0;                         ///< of that interval, e.g. 0.99
  Comparison comparison = Comparison::ambiguous;
  std::string clock;       ///< "cpu" or "wall": which one decided
  std::string mode;        ///< "warm" or "cold"
  double floor_ms = 0;     ///< speed of light for this shape; 0 = unknown
  double idle_cpu_ms = 0;  ///< CPU the candidate used between calls
  std::vector<PairSample> samples;
};

struct ShapeEvidence {
  std::string shape;
  double weight = 1;
  double flops = 0, bytes = 0;
  CheckEvidence check;
  TimingEvidence timing;
};

struct Evidence {
  BuildEvidence build;
  std::vector<ShapeEvidence> shapes;  ///< in case order; shorter when a rejection stopped it
  /// First thing that disqualifies the candidate, found by the bench; judge/ adds its own (floor, not
  /// faster).
  Reason rejection = Reason::none;
  std::string rejection_detail;                   ///< one line
  double log_ratio = 0;                           ///< weighted mean over shapes of log(candidate/incumbent)
  Comparison comparison = Comparison::ambiguous;  ///< over all shapes, with a veto per shape
  double log_ratio_to_baseline = 0;               ///< log_ratio plus the incumbent's own
  std::uint64_t peak_memory_bytes = 0;            ///< worker's peak RSS plus buffers
  std::string isolation;                          ///< "userns+pidns+netns+landlock7+seccomp+rlimits"
  std::string machine;                            ///< CPU model
  std::uint64_t seed = 0;  ///< of the inputs (per run, secret until the candidate is done)
  double load_average = 0;
  double overhead_cpu_ms = 0;  ///< bench's own CPU beyond compiler and kernel
  double wall_ms = 0;          ///< whole evaluation
  bool self_reported = false;  ///< command backend without the C entry
  bool infra = false;          ///< the failure was ours: retry, never charged
  bool confirmed = false;      ///< measured again in a fresh process with fresh seeds
};

[[nodiscard]] json::object evidence_to_json(const Evidence& evidence);
[[nodiscard]] Result<Evidence> evidence_from_json(const Node& node);

}  // namespace tunesmith
