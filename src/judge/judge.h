// Evidence in, decision out. Arithmetic only: no process, no file, no text that a candidate wrote.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "case/evidence.h"
#include "judge/gate.h"
#include "judge/objective.h"

namespace tunesmith::judge {

enum class Verdict { faster, slower, same, ambiguous, impossible, rejected };
[[nodiscard]] const char* name_of(Verdict verdict);

struct Decision {
  bool keep = false;   ///< becomes the incumbent
  bool valid = false;  ///< correct and measured: the strategy may learn from its objective
  Verdict verdict = Verdict::rejected;
  Reason reason = Reason::none;
  std::string detail;  ///< one line
  double objective =
      0;  ///< of the engineer's formula, on the paired (plateau-free) latency; +inf when not valid
  std::vector<GateFailure> failures;
};

struct Standing {
  double baseline_latency_ms = 0;  ///< wall, from the opening: turns ratios into milliseconds
  double incumbent_objective = 0;
  int rollbacks = 0;
  /// A self-reported result is ranked and explored, but kept only when a person has said so.
  bool trust_self_reported = false;
};

/// What the objective and the gate see of evidence, as if the whole took `latency_ms`.
[[nodiscard]] Figures figures_of(const Evidence& evidence, double latency_ms);
/// Weighted geometric mean of the shapes' wall latencies; NaN when there is none.
[[nodiscard]] double latency_of(const Evidence& evidence);
/// Weighted geometric mean of the shapes' flops; 0 when a shape has no formula.
[[nodiscard]] double mean_flops_of(const Evidence& evidence);
[[nodiscard]] inline double tflops_of(double flops, double latency_ms) { return flops / (latency_ms * 1e9); }

/// The gate precedes the objective. keep = no rejection, gate passed, FASTER on the whole and no shape SLOWER
/// (or, with an objective that is not monotonic in time, a better objective and not SLOWER beyond its own
/// terms).
[[nodiscard]] Decision decide(const Evidence& evidence, const Case& c, const Gate& gate,
                              const Objective& objective, const Standing& standing);

/// `verify RESULT`: the gate applied to a result file's JSON alone, or with its case.
struct VerifyOptions {
  std::optional<double> tol;
  const Case* c = nullptr;  ///< recompute tflops from its work formula; speed of light through floor_ms
  double floor_ms = 0;      ///< least possible time on this machine for the result's shape; 0 = unknown
  /// The same per shape of the case, for results over several shapes; used where it is set.
  std::function<double(const Shape&)> floor_of;
  std::string device;
};
struct VerifyAnswer {
  bool ok = false;
  std::vector<GateFailure> failures;
  std::string message;                         ///< "pass", or the first failure
  [[nodiscard]] json::object to_json() const;  ///< {"ok":…, "message":…, "reasons":[codes], "failures":[…]}
};
[[nodiscard]] VerifyAnswer verify(const Node& result, const Gate& gate, const VerifyOptions& options);
/// `score RESULT`: figures of a result JSON.
[[nodiscard]] Figures figures_of(const json::object& result);

}  // namespace tunesmith::judge
