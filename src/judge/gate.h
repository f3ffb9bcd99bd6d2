// The acceptance gate: what must hold before anything is ranked. Three kinds (numerical, performance,
// engineering), each requirement in one of three states: required, optional, not measurable here. A required
// figure without evidence fails; zero checks executed is never a pass.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "case/case.h"
#include "case/reason.h"

namespace tunesmith::judge {

enum class Need { required, optional, not_measurable_here };

/// When a run goes back to the best state, and who decides.
struct RollbackPolicy {
  enum class On { regressions, any_failure, ask } on = On::regressions;
  int after = 1;  ///< regressions in a row
};

struct Requirement {
  std::string figure;  ///< "max_abs_error", "latency_ms", "tflops", "peak_memory_bytes", "compile_fail",
                       ///< "reproducible", …
  Need need = Need::required;
  std::optional<double> at_most, at_least;  ///< the bound; none: only presence
  std::string kind;                         ///< "numerical", "performance" or "engineering"
  Reason reason = Reason::none;             ///< the code when it fails
};

/// A throughput floor for one device, shape and baseline. A result's own min_tflops may only raise it.
struct Floor {
  std::string device;    ///< substring of the machine name; "" = any
  std::string shape;     ///< shape name; "" = any
  std::string baseline;  ///< label; "" = any
  double min_tflops = 0;
};

struct Gate {
  std::vector<Requirement> requirements;
  std::vector<Floor> floors;
  RollbackPolicy rollback;
  double tol = 1e-3;

  [[nodiscard]] static Gate standard(double tol);  ///< the article's fields, its tolerance, no floor
  [[nodiscard]] static Result<Gate> from_json(const Node& node, double default_tol = 1e-3);
  /// From the case's own key, or a file given by --gate; the standard one when neither.
  [[nodiscard]] static Result<Gate> of_case(const Case& c, const std::string& file = {});
  [[nodiscard]] json::object to_json() const;
  [[nodiscard]] std::string sha256() const;
};

struct GateFailure {
  Reason reason = Reason::none;
  std::string figure;
  std::string message;  ///< "max_abs_error 0.5 is above the tolerance 0.001"
};

}  // namespace tunesmith::judge
