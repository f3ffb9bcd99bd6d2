#include "judge/objective.h"

#include <cmath>
#include <limits>

#include "base/hash.h"

namespace tunesmith::judge {

namespace {

constexpr double k_worst = std::numeric_limits<double>::infinity();

/// What a formula may name, in the order of its environment.
const std::vector<space::Name>& formula_names() {
  using space::ValueKind;
  static const std::vector<space::Name> names = {
      {"latency_ms", ValueKind::real},        {"tflops", ValueKind::real},
      {"peak_memory_bytes", ValueKind::real}, {"max_abs_error", ValueKind::real},
      {"max_rel_error", ValueKind::real},     {"compile_fail", ValueKind::real},
      {"rollbacks", ValueKind::real},         {"tol", ValueKind::real}};
  return names;
}

Result<double> weight_of(const Node& node, std::string_view key, double fallback) {
  TS_ASSIGN(const double weight, node.double_or(key, fallback));
  if (!std::isfinite(weight) || weight < 0) {
    return node.get(key)->error(fmt::format("must be a finite number of at least 0, not {}", weight),
                                "a weight below 0 would reward what it should punish");
  }
  return weight;
}

}  // namespace

Objective::Objective() = default;

Result<Objective> Objective::from_json(const Node& node, double default_tol) {
  TS_TRY(node.only_keys({"formula", "tflops_weight", "error_weight", "compile_fail_weight", "tol"}));
  Objective objective;
  TS_ASSIGN(objective.m_tflops_weight, weight_of(node, "tflops_weight", objective.m_tflops_weight));
  TS_ASSIGN(objective.m_error_weight, weight_of(node, "error_weight", objective.m_error_weight));
  TS_ASSIGN(objective.m_compile_fail_weight,
            weight_of(node, "compile_fail_weight", objective.m_compile_fail_weight));
  TS_ASSIGN(objective.m_tol, weight_of(node, "tol", default_tol));
  const auto formula = node.find("formula");
  if (!formula) return objective;
  for (const char* weight : {"tflops_weight", "error_weight", "compile_fail_weight"}) {
    if (const auto found = node.find(weight)) {
      return found->error("has no effect beside \"formula\"",
                          "write the weight into the formula, or take the formula out");
    }
  }
  TS_ASSIGN(std::string text, formula->as_string());
  Place place = formula->place();
  TS_ASSIGN(objective.m_formula, space::Expression::parse(std::move(text), formula_names(), place));
  return objective;
}

Result<Objective> Objective::of_case(const Case& c, const std::string& file) {
  const double tol = c.tolerance.absolute > 0 ? c.tolerance.absolute : 1e-3;
  if (!file.empty()) {
    TS_ASSIGN(const Node node, Node::read(file));
    return from_json(node, tol);
  }
  if (c.objective) return from_json(*c.objective, tol);
  Objective objective;
  objective.m_tol = tol;
  return objective;
}

double Objective::score(const Figures& figures) const {
  double score = k_worst;
  if (m_formula) {
    const std::optional<double> values[] = {
        figures.latency_ms,    figures.tflops,       figures.peak_memory_bytes, figures.max_abs_error,
        figures.max_rel_error, figures.compile_fail, figures.rollbacks,         m_tol};
    std::vector<space::Value> environment;
    for (const auto& value : values) environment.emplace_back(value.value_or(0));
    for (const std::size_t slot : m_formula->used()) {
      if (!values[slot] || !std::isfinite(*values[slot])) return k_worst;
      if (slot == 0 && *values[slot] <= 0) return k_worst;
    }
    const auto number = m_formula->evaluate_number(environment);
    if (!number) return k_worst;
    score = *number;
  } else {
    if (!figures.latency_ms || !figures.tflops || !figures.max_abs_error) return k_worst;
    // A time that cannot be is never the best one.
    if (!(*figures.latency_ms > 0)) return k_worst;
    double penalty = 0;
    const double error = *figures.max_abs_error;
    if (!(error <= m_tol)) penalty = m_error_weight * (error - m_tol) / m_tol;
    score = *figures.latency_ms - m_tflops_weight * *figures.tflops + penalty +
            m_compile_fail_weight * figures.compile_fail;
  }
  return std::isfinite(score) ? score : k_worst;
}

json::object Objective::to_json() const {
  if (m_formula) return {{"formula", m_formula->text()}, {"tol", m_tol}};
  return {{"tflops_weight", m_tflops_weight},
          {"error_weight", m_error_weight},
          {"compile_fail_weight", m_compile_fail_weight},
          {"tol", m_tol}};
}

std::string Objective::sha256() const { return sha256_hex(print_json_compact(to_json())); }

json::object score_to_json(double score) {
  if (std::isfinite(score)) return {{"score", score}};
  return {{"score", nullptr}, {"worst", true}};
}

}  // namespace tunesmith::judge
