// The objective ranks what the gate has passed. Default: exactly the article's
//   latency_ms - 0.01 * tflops + (error > tol ? 1000 * (error - tol) / tol : 0) + 50 * compile_fail
// with every constant a setting, or a formula of the engineer's over latency_ms, tflops, peak_memory_bytes,
// max_abs_error, max_rel_error, compile_fail, rollbacks. Lower is better.
#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "case/case.h"
#include "space/expression.h"

namespace tunesmith::judge {

/// What a formula may see. A figure that is absent is unset, never 0.
struct Figures {
  std::optional<double> latency_ms, tflops, max_abs_error, max_rel_error, peak_memory_bytes;
  double compile_fail = 0, rollbacks = 0;
};

class Objective {
 public:
  Objective();  ///< the article's
  /// {"tflops_weight": 0.01, "error_weight": 1000, "compile_fail_weight": 50, "tol": 1e-3} or {"formula":
  /// "…", "tol": …}; unknown keys are refused.
  [[nodiscard]] static Result<Objective> from_json(const Node& node, double default_tol = 1e-3);
  /// From the case's own key, or a file given by --objective; the article's when neither.
  [[nodiscard]] static Result<Objective> of_case(const Case& c, const std::string& file = {});

  /// Never throws, never NaN: what cannot be computed (a failed build without a latency) is +infinity, the
  /// worst.
  [[nodiscard]] double score(const Figures& figures) const;
  [[nodiscard]] std::string sha256() const;  ///< of the settings
  [[nodiscard]] json::object to_json() const;
  [[nodiscard]] double tol() const { return m_tol; }
  /// An engineer's formula need not be monotonic in time; the article's form always is.
  [[nodiscard]] bool has_formula() const { return m_formula.has_value(); }

 private:
  double m_tflops_weight = 0.01, m_error_weight = 1000, m_compile_fail_weight = 50, m_tol = 1e-3;
  std::optional<space::Expression> m_formula;
};

/// {"score": -2.305}; the worst score has no number in JSON: {"score": null, "worst": true}.
[[nodiscard]] json::object score_to_json(double score);

}  // namespace tunesmith::judge
