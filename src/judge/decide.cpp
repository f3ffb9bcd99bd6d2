#include <cmath>
#include <limits>

#include "judge/figure_table.h"
#include "judge/judge.h"
#include "stats/descriptive.h"

namespace tunesmith::judge {

namespace {

constexpr double k_worst = std::numeric_limits<double>::infinity();
/// An objective that is no pure time has no test of its own: it must be better by this share, so that noise
/// in memory or error figures never moves the incumbent.
constexpr double k_minimum_improvement = 0.01;

bool positive(double number) { return std::isfinite(number) && number > 0; }

Decision reject(Verdict verdict, Reason reason, std::string figure, std::string detail) {
  Decision decision;
  decision.verdict = verdict;
  decision.reason = reason;
  decision.objective = k_worst;
  decision.failures.push_back({reason, std::move(figure), detail});
  decision.detail = std::move(detail);
  return decision;
}

Verdict verdict_of(Comparison comparison) {
  switch (comparison) {
    case Comparison::faster:
      return Verdict::faster;
    case Comparison::slower:
      return Verdict::slower;
    case Comparison::same:
      return Verdict::same;
    case Comparison::ambiguous:
      return Verdict::ambiguous;
  }
  return Verdict::ambiguous;
}

/// A candidate that is hopeless on one shape is not timed on those behind it: nothing there could save it.
bool stopped_early(const Evidence& e) {
  if (e.comparison != Comparison::slower) return false;
  for (const ShapeEvidence& s : e.shapes) {
    if (s.timing.pairs > 0 && s.timing.comparison == Comparison::slower) return true;
  }
  return false;
}

/// Holes in one shape's evidence, and times that cannot be.
std::optional<Decision> shape_rejection(const ShapeEvidence& s, const Shape& shape, bool may_be_untimed) {
  if (s.shape != shape.name) {
    return reject(Verdict::rejected, Reason::missing_evidence, "shape",
                  fmt::format("evidence is of shape {} where {} was due", s.shape, shape.name));
  }
  if (s.check.planned <= 0 || s.check.executed < s.check.planned) {
    return reject(
        Verdict::rejected, Reason::missing_evidence, "check",
        fmt::format("shape {}: {} of {} checks were executed", s.shape, s.check.executed, s.check.planned));
  }
  if (!s.check.passed) {
    return reject(Verdict::rejected, Reason::wrong_result, "max_abs_error",
                  fmt::format("shape {}: wrong by up to {}", s.shape, s.check.max_abs_error));
  }
  if (s.timing.pairs <= 0 && may_be_untimed) return std::nullopt;
  if (s.timing.pairs <= 0) {
    return reject(Verdict::rejected, Reason::too_few_samples, "latency_ms",
                  fmt::format("shape {}: no time was taken", s.shape));
  }
  if (!positive(s.timing.latency_ms) || !std::isfinite(s.timing.log_ratio)) {
    return reject(Verdict::impossible, Reason::impossible_time, "latency_ms",
                  fmt::format("shape {}: a latency of {} ms cannot be", s.shape, s.timing.latency_ms));
  }
  if (s.timing.floor_ms > 0 && s.timing.latency_ms < s.timing.floor_ms) {
    return reject(
        Verdict::impossible, Reason::impossible_time, "latency_ms",
        fmt::format("shape {}: {:.4g} ms is faster than the speed of light of this machine, {:.4g} ms",
                    s.shape, s.timing.latency_ms, s.timing.floor_ms));
  }
  return std::nullopt;
}

std::optional<Decision> early_rejection(const Evidence& e, const Case& c) {
  if (e.infra || e.build.outcome == BuildEvidence::Outcome::infra) {
    return reject(Verdict::rejected, Reason::infra, "",
                  !e.rejection_detail.empty() ? e.rejection_detail
                  : !e.build.detail.empty()   ? e.build.detail
                                              : "the bench itself failed");
  }
  if (e.build.outcome != BuildEvidence::Outcome::ok) {
    const Reason fallback = e.build.outcome == BuildEvidence::Outcome::timed_out   ? Reason::build_timeout
                            : e.build.outcome == BuildEvidence::Outcome::forbidden ? Reason::forbidden_edit
                                                                                   : Reason::build_failed;
    return reject(Verdict::rejected, e.build.reason == Reason::none ? fallback : e.build.reason,
                  "compile_fail", e.build.detail.empty() ? "the build failed" : e.build.detail);
  }
  // Merit and provenance apart: a self-reported figure is still a figure to rank.
  if (e.rejection != Reason::none && e.rejection != Reason::self_reported) {
    const Verdict verdict = e.rejection == Reason::impossible_time ? Verdict::impossible : Verdict::rejected;
    return reject(verdict, e.rejection, "",
                  e.rejection_detail.empty() ? std::string(code_of(e.rejection)) : e.rejection_detail);
  }
  if (e.shapes.empty() || e.shapes.size() != c.shapes.size()) {
    return reject(Verdict::rejected, Reason::missing_evidence, "shapes",
                  fmt::format("evidence covers {} of {} scored shapes", e.shapes.size(), c.shapes.size()));
  }
  const bool stopped = stopped_early(e);
  for (std::size_t i = 0; i < e.shapes.size(); ++i) {
    if (auto rejection = shape_rejection(e.shapes[i], c.shapes[i], stopped)) return rejection;
  }
  if (!std::isfinite(e.log_ratio) || !std::isfinite(e.log_ratio_to_baseline)) {
    return reject(Verdict::impossible, Reason::impossible_time, "latency_ms",
                  "the ratio to the incumbent is no finite number");
  }
  return std::nullopt;
}

std::optional<double> figure_value(const std::string& figure, const Figures& figures, const Evidence& e) {
  if (figure == "max_abs_error") return figures.max_abs_error;
  if (figure == "max_rel_error") return figures.max_rel_error;
  // The check refuses any disagreement of NaN masks, so evidence that passed it has none.
  if (figure == "nan_mismatch") return 0.0;
  if (figure == "latency_ms") return figures.latency_ms;
  if (figure == "tflops") return figures.tflops;
  if (figure == "peak_memory_bytes") return figures.peak_memory_bytes;
  if (figure == "compile_fail") return figures.compile_fail;
  if (figure == "rollbacks") return figures.rollbacks;
  if (figure == "reproducible" && e.confirmed) return 1.0;
  return std::nullopt;
}

void apply_requirements(const Gate& gate, const Figures& figures, const Evidence& e,
                        std::vector<GateFailure>& failures) {
  for (const Requirement& r : gate.requirements) {
    // Only the confirmation rebuilds and runs anew; until then this figure is still due, not missing.
    if (r.figure == "reproducible" && !e.confirmed) continue;
    const auto value = figure_value(r.figure, figures, e);
    if (!value) {
      if (r.need == Need::required)
        failures.push_back(
            {Reason::missing_evidence, r.figure, r.figure + " is required and was not measured"});
      continue;
    }
    if (r.at_most && !(*value <= *r.at_most)) {
      failures.push_back(
          {r.reason, r.figure,
           fmt::format("{} {:.6g} is above the limit of {:.6g}", r.figure, *value, *r.at_most)});
    }
    if (r.at_least && !(*value >= *r.at_least)) {
      failures.push_back(
          {r.reason, r.figure,
           fmt::format("{} {:.6g} is below the least of {:.6g}", r.figure, *value, *r.at_least)});
    }
  }
}

void apply_floors(const Gate& gate, const Evidence& e, const Case& c, std::vector<GateFailure>& failures) {
  for (const Floor& floor : gate.floors) {
    if (!floor.device.empty() && e.machine.find(floor.device) == std::string::npos) continue;
    if (!floor.baseline.empty() && floor.baseline != c.baseline.label) continue;
    for (const ShapeEvidence& s : e.shapes) {
      if (!floor.shape.empty() && floor.shape != s.shape) continue;
      if (s.timing.pairs <= 0) continue;  // stopped on an earlier shape
      const double tflops = tflops_of(s.flops, s.timing.latency_ms);
      if (tflops >= floor.min_tflops) continue;
      failures.push_back({Reason::below_floor, "tflops",
                          fmt::format("shape {}: tflops {:.6g} is below the floor of {:.6g}", s.shape, tflops,
                                      floor.min_tflops)});
    }
  }
}

/// The objective with the time at the pessimistic end of its interval.
double cautious_objective(const Evidence& e, const Objective& objective, const Standing& standing) {
  double shift = 0;
  double weights = 0;
  for (const ShapeEvidence& s : e.shapes) {
    shift += s.weight * std::max(0.0, s.timing.log_ratio_high - s.timing.log_ratio);
    weights += s.weight;
  }
  if (weights > 0) shift /= weights;
  Figures figures = figures_of(e, standing.baseline_latency_ms * std::exp(e.log_ratio_to_baseline + shift));
  figures.rollbacks = standing.rollbacks;
  return objective.score(figures);
}

void judge_time(Decision& decision, const Evidence& e) {
  for (const ShapeEvidence& s : e.shapes) {
    if (s.timing.comparison != Comparison::slower || e.comparison == Comparison::slower) continue;
    decision.verdict = Verdict::slower;
    decision.reason = Reason::not_faster;
    decision.detail = fmt::format("slower on shape {} ({:.3f} times the incumbent's time)", s.shape,
                                  std::exp(s.timing.log_ratio));
    return;
  }
  const double ratio = std::exp(e.log_ratio);
  switch (e.comparison) {
    case Comparison::faster:
      decision.keep = true;
      decision.detail = fmt::format("{:.3f} times the incumbent's time", ratio);
      return;
    case Comparison::slower:
      decision.detail = fmt::format("slower: {:.3f} times the incumbent's time", ratio);
      break;
    case Comparison::same:
      decision.reason = Reason::no_effect;
      decision.detail = fmt::format("as fast as the incumbent ({:.3f} times its time)", ratio);
      return;
    case Comparison::ambiguous:
      decision.reason = Reason::ambiguous;
      decision.detail =
          fmt::format("no decision within the cap of samples ({:.3f} times the incumbent's time)", ratio);
      return;
  }
  decision.reason = Reason::not_faster;
}

void judge_formula(Decision& decision, const Evidence& e, const Objective& objective,
                   const Standing& standing) {
  const double cautious = cautious_objective(e, objective, standing);
  const double incumbent = standing.incumbent_objective;
  const double due =
      std::isfinite(incumbent) ? incumbent - k_minimum_improvement * std::fabs(incumbent) : k_worst;
  if (std::isfinite(decision.objective) && cautious < due) {
    decision.keep = true;
    decision.detail = fmt::format("objective {:.6g} against the incumbent's {:.6g}", decision.objective,
                                  standing.incumbent_objective);
    return;
  }
  decision.reason = decision.verdict == Verdict::ambiguous ? Reason::ambiguous
                    : decision.verdict == Verdict::same    ? Reason::no_effect
                                                           : Reason::not_faster;
  decision.detail = fmt::format("objective {:.6g} is not surely better than the incumbent's {:.6g}",
                                decision.objective, standing.incumbent_objective);
}

}  // namespace

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::faster:
      return "FASTER";
    case Verdict::slower:
      return "SLOWER";
    case Verdict::same:
      return "SAME";
    case Verdict::ambiguous:
      return "AMBIGUOUS";
    case Verdict::impossible:
      return "IMPOSSIBLE";
    case Verdict::rejected:
      return "REJECTED";
  }
  return "REJECTED";
}

double latency_of(const Evidence& evidence) {
  std::vector<double> values;
  std::vector<double> weights;
  for (const ShapeEvidence& s : evidence.shapes) {
    if (!positive(s.timing.latency_ms)) return std::numeric_limits<double>::quiet_NaN();
    values.push_back(s.timing.latency_ms);
    weights.push_back(s.weight);
  }
  return values.empty() ? std::numeric_limits<double>::quiet_NaN()
                        : stats::weighted_geometric_mean(values, weights);
}

double mean_flops_of(const Evidence& evidence) {
  std::vector<double> values;
  std::vector<double> weights;
  for (const ShapeEvidence& s : evidence.shapes) {
    if (!positive(s.flops)) return 0;
    values.push_back(s.flops);
    weights.push_back(s.weight);
  }
  return values.empty() ? 0 : stats::weighted_geometric_mean(values, weights);
}

Figures figures_of(const Evidence& evidence, double latency_ms) {
  Figures figures;
  if (evidence.build.outcome != BuildEvidence::Outcome::ok) figures.compile_fail = 1;
  if (evidence.shapes.empty()) return figures;
  if (positive(latency_ms)) {
    figures.latency_ms = latency_ms;
    figures.tflops = tflops_of(mean_flops_of(evidence), latency_ms);
  }
  if (evidence.peak_memory_bytes > 0)
    figures.peak_memory_bytes = static_cast<double>(evidence.peak_memory_bytes);
  double abs_error = 0;
  double rel_error = 0;
  for (const ShapeEvidence& s : evidence.shapes) {
    if (s.check.executed <= 0) return figures;
    // Written so that NaN is taken over and never dropped.
    if (!(s.check.max_abs_error <= abs_error)) abs_error = s.check.max_abs_error;
    if (!(s.check.max_rel_error <= rel_error)) rel_error = s.check.max_rel_error;
  }
  figures.max_abs_error = abs_error;
  figures.max_rel_error = rel_error;
  return figures;
}

Decision decide(const Evidence& evidence, const Case& c, const Gate& gate, const Objective& objective,
                const Standing& standing) {
  if (auto rejection = early_rejection(evidence, c)) return *rejection;
  Decision decision;
  decision.verdict = verdict_of(evidence.comparison);
  const double latency_ms = standing.baseline_latency_ms * std::exp(evidence.log_ratio_to_baseline);
  if (!positive(latency_ms)) {
    return reject(Verdict::rejected, Reason::missing_evidence, "latency_ms",
                  "the baseline has no latency to compare with");
  }
  Figures figures = figures_of(evidence, latency_ms);
  figures.rollbacks = standing.rollbacks;
  apply_requirements(gate, figures, evidence, decision.failures);
  apply_floors(gate, evidence, c, decision.failures);
  decision.objective = objective.score(figures);
  decision.valid = true;
  for (const GateFailure& failure : decision.failures) {
    const FigureInfo* info = find_figure(failure.figure);
    if (info != nullptr && info->kind == "numerical") decision.valid = false;
  }
  if (!decision.failures.empty()) {
    decision.reason = decision.failures.front().reason;
    decision.detail = decision.failures.front().message;
    decision.verdict = Verdict::rejected;
    if (!decision.valid) decision.objective = k_worst;
    return decision;
  }
  if (objective.has_formula()) {
    judge_formula(decision, evidence, objective, standing);
  } else {
    judge_time(decision, evidence);
  }
  const bool self_reported = evidence.self_reported || evidence.rejection == Reason::self_reported;
  if (self_reported && !standing.trust_self_reported) {
    decision.keep = false;
    if (decision.verdict == Verdict::faster) decision.verdict = Verdict::ambiguous;
    decision.reason = Reason::self_reported;
    decision.detail = "self-reported: " + decision.detail + "; never kept without --trust-self-reported";
  }
  return decision;
}

}  // namespace tunesmith::judge
