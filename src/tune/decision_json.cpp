#include <cmath>
#include <limits>

#include "tune/journal.h"

namespace tunesmith::tune {

namespace {

using judge::Verdict;
constexpr Verdict k_verdicts[] = {Verdict::faster,    Verdict::slower,     Verdict::same,
                                  Verdict::ambiguous, Verdict::impossible, Verdict::rejected};

Result<Reason> reason_of(const Node& node) {
  TS_ASSIGN(const std::string code, node.as_string());
  if (code.empty()) return Reason::none;
  const auto reason = reason_from_code(code);
  if (!reason)
    return node.error("unknown reason code \"" + code + "\"", "read it with the version that wrote it");
  return *reason;
}

}  // namespace

json::object decision_to_json(const judge::Decision& decision) {
  json::array failures;
  for (const judge::GateFailure& f : decision.failures) {
    failures.push_back(
        json::object{{"reason", code_of(f.reason)}, {"figure", f.figure}, {"message", f.message}});
  }
  json::object out{{"keep", decision.keep},
                   {"valid", decision.valid},
                   {"verdict", judge::name_of(decision.verdict)},
                   {"reason", code_of(decision.reason)},
                   {"detail", decision.detail},
                   {"objective", nullptr},
                   {"failures", std::move(failures)}};
  if (std::isfinite(decision.objective)) out["objective"] = decision.objective;
  return out;
}

Result<judge::Decision> decision_from_json(const Node& node) {
  judge::Decision decision;
  TS_ASSIGN(decision.keep, node.bool_or("keep", false));
  TS_ASSIGN(decision.valid, node.bool_or("valid", false));
  TS_ASSIGN(const Node verdict, node.get("verdict"));
  TS_ASSIGN(const std::string name, verdict.as_string());
  const auto found = std::find_if(std::begin(k_verdicts), std::end(k_verdicts),
                                  [&](Verdict v) { return name == judge::name_of(v); });
  if (found == std::end(k_verdicts)) return verdict.error("unknown verdict \"" + name + "\"");
  decision.verdict = *found;
  TS_ASSIGN(const Node reason, node.get("reason"));
  TS_ASSIGN(decision.reason, reason_of(reason));
  TS_ASSIGN(decision.detail, node.string_or("detail", ""));
  // null stands for the worst.
  decision.objective = std::numeric_limits<double>::infinity();
  TS_ASSIGN(const Node objective, node.get("objective"));
  if (!objective.value().is_null()) {
    TS_ASSIGN(decision.objective, objective.as_double());
  }
  TS_ASSIGN(const Node failures, node.get("failures"));
  TS_ASSIGN(const auto items, failures.items());
  for (const Node& item : items) {
    judge::GateFailure failure;
    TS_ASSIGN(const Node code, item.get("reason"));
    TS_ASSIGN(failure.reason, reason_of(code));
    TS_ASSIGN(failure.figure, item.string_or("figure", ""));
    TS_ASSIGN(failure.message, item.string_or("message", ""));
    decision.failures.push_back(std::move(failure));
  }
  return decision;
}

}  // namespace tunesmith::tune
