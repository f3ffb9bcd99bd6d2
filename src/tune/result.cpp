#include <cmath>

#include "judge/shape_text.h"
#include "tune/opening_json.h"
#include "tune/runs.h"

namespace tunesmith::tune {

namespace {

json::value number(double value) { return std::isfinite(value) ? json::value(value) : json::value(nullptr); }

/// Robust spread of the samples' log ratios: half of the interval's width, in percent of the time.
double spread_percent(const TimingEvidence& timing) {
  const double width = timing.log_ratio_high - timing.log_ratio_low;
  return std::isfinite(width) && width > 0 ? 100 * std::expm1(width / 2) : 0;
}

json::object shape_json(const ShapeEvidence& s) {
  json::object out{{"shape", s.shape}, {"weight", s.weight}};
  if (s.timing.pairs > 0) {
    out["latency_ms"] = number(s.timing.latency_ms);
    out["tflops"] = number(judge::tflops_of(s.flops, s.timing.latency_ms));
  }
  out["max_abs_error"] = number(s.check.max_abs_error);
  out["max_rel_error"] = number(s.check.max_rel_error);
  out["checks"] = json::object{{"planned", s.check.planned}, {"executed", s.check.executed}};
  out["cpu_ms"] = number(s.timing.cpu_ms);
  out["incumbent_latency_ms"] = number(s.timing.incumbent_latency_ms);
  out["ratio"] = number(std::exp(s.timing.log_ratio));
  out["spread_percent"] = spread_percent(s.timing);
  out["pairs"] = s.timing.pairs;
  out["clock"] = s.timing.clock;
  out["mode"] = s.timing.mode;
  out["speed_of_light_ms"] = number(s.timing.floor_ms);
  return out;
}

void add_article_fields(json::object& out, const Case& c, const Trial& trial) {
  const Evidence& e = trial.evidence;
  const double latency_ms = judge::latency_of(e);
  const judge::Figures figures = judge::figures_of(e, latency_ms);
  out["case"] = c.name;
  out["shape"] = c.shapes.size() == 1 ? c.shapes.front().name : std::string(judge::k_all_shapes);
  out["dtype"] = c.dtype;
  // Absent is absent: a null or a 0 could be read as a figure.
  const bool timed =
      !e.shapes.empty() && e.shapes.size() == c.shapes.size() && figures.latency_ms.has_value();
  if (timed) {
    out["latency_ms"] = *figures.latency_ms;
    out["tflops"] = *figures.tflops;
  }
  if (figures.max_abs_error) out["max_abs_error"] = number(*figures.max_abs_error);
  const bool failed_build = e.build.outcome == BuildEvidence::Outcome::failed ||
                            e.build.outcome == BuildEvidence::Outcome::timed_out ||
                            e.build.outcome == BuildEvidence::Outcome::forbidden;
  out["compile_fail"] = failed_build ? 1 : 0;
  out["config"] = trial.config;
  if (figures.max_rel_error) out["max_rel_error"] = number(*figures.max_rel_error);
  if (figures.peak_memory_bytes) out["peak_memory_bytes"] = e.peak_memory_bytes;
}

}  // namespace

json::object result_json(const Case& c, const RunHeader& header, const Trial& trial,
                         const bench::Opening* opening) {
  const Evidence& e = trial.evidence;
  json::object out;
  add_article_fields(out, c, trial);
  out["verdict"] = judge::name_of(trial.decision.verdict);
  out["reason"] = code_of(trial.decision.reason);
  out["detail"] = trial.decision.detail;
  out["kept"] = trial.decision.keep;
  out["objective"] = number(trial.decision.objective);
  if (trial.decision.valid) out["speedup"] = number(std::exp(-e.log_ratio_to_baseline));
  out["baseline"] = c.baseline.label;
  if (opening != nullptr) out["baseline_latency_ms"] = number(judge::latency_of(opening->baseline));
  int planned = 0;
  int executed = 0;
  json::array shapes;
  for (const ShapeEvidence& s : e.shapes) {
    planned += s.check.planned;
    executed += s.check.executed;
    shapes.push_back(shape_json(s));
  }
  if (planned > 0) out["checks"] = json::object{{"planned", planned}, {"executed", executed}};
  out["confirmed"] = e.confirmed;
  // The confirmation builds anew and runs in fresh processes; before it nothing is known.
  if (e.confirmed) out["reproducible"] = e.rejection == Reason::none;
  if (e.self_reported) out["provenance"] = "self-reported";
  if (c.recording) out["provenance"] = "replayed";
  out["shapes"] = std::move(shapes);
  out["machine"] = e.machine;
  out["compiler"] = e.build.compiler.empty() ? header.toolchain : e.build.compiler;
  out["isolation"] = e.isolation;
  out["identity"] = trial.identity;
  if (!trial.diff.empty()) out["diff"] = trial.diff;
  if (!e.build.log_path.empty()) out["log"] = e.build.log_path;
  out["strategy"] = header.strategy;
  out["seed"] = header.seed;
  out["version"] = header.version;
  out["run"] = header.run;
  out["trial"] = trial.id;
  out["ended_utc"] = trial.ended_utc;
  // A seal says that this bench measured it; what is replayed was measured by another, at another time.
  if (!c.recording) seal(out, header.run, trial.id, header.seal_key);
  return out;
}

}  // namespace tunesmith::tune
