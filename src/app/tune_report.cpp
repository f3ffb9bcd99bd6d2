#include "app/tune_report.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "app/help.h"
#include "app/numbers.h"
#include "app/run_view.h"
#include "base/clock.h"
#include "base/text.h"
#include "case/reason.h"
#include "term/table.h"

namespace tunesmith::app {

namespace {

/// The widest column that leaves room for the box in 110 columns.
constexpr std::size_t k_config_columns = 90;

/// Weighted geometric mean of a positive figure over shapes; 0 when one is missing.
template <class Figure>
double mean_of(const std::vector<ShapeEvidence>& shapes, Figure figure) {
  double sum = 0;
  double weight = 0;
  for (const ShapeEvidence& shape : shapes) {
    const double value = figure(shape);
    if (!(value > 0) || !std::isfinite(value)) return 0;
    sum += shape.weight * std::log(value);
    weight += shape.weight;
  }
  return weight > 0 ? std::exp(sum / weight) : 0;
}

double latency(const ShapeEvidence& shape) { return shape.timing.latency_ms; }
double floor_of(const ShapeEvidence& shape) { return shape.timing.floor_ms; }

std::string reproduce_line(const RunEnd& end) {
  const tune::RunHeader& header = *end.header;
  std::string line = fmt::format("tunesmith tune {} --strategy {} --seed {} --batch {}", header.case_file,
                                 header.strategy, header.seed, header.batch);
  // By count, not by minutes: only then does the same search run again.
  line += fmt::format(" --evaluations {}", end.summary->evaluations);
  // What a person gave beside the case: journal key and flag.
  constexpr std::array<std::pair<const char*, const char*>, 3> k_files = {
      {{"gate_file", "--gate"}, {"objective_file", "--objective"}, {"prior", "--prior"}}};
  for (const auto& [key, flag] : k_files) {
    const json::value* file = header.extra.if_contains(key);
    if (file == nullptr || !file->is_string() || file->as_string().empty()) continue;
    line += fmt::format(" {} {}", flag, std::string_view(file->as_string()));
  }
  return line;
}

json::object header_baseline(const tune::RunHeader& header) {
  const json::value* base = header.extra.if_contains("baseline_config");
  return base != nullptr && base->is_object() ? base->as_object() : json::object{};
}

std::string winner_text(const tune::Trial& winner, const json::object& base) {
  std::string config = config_text(winner.config, base.empty() ? nullptr : &base);
  if (config.empty()) config = "the baseline's own values";
  return winner.diff.empty() ? config : config + " + patch";
}

std::string light_text(double floor_ms, double latency_ms) {
  return floor_ms > 0 && latency_ms > 0 ? percent_text(floor_ms / latency_ms) : "";
}

}  // namespace

bool passed(const tune::Summary& summary) {
  if (!summary.winner) return false;
  return !summary.confirmation || summary.confirmation_decision.valid;
}

Gain gain_of(const tune::Summary& summary) {
  Gain gain;
  const std::vector<ShapeEvidence>& opening = summary.opening.baseline.shapes;
  gain.baseline_latency_ms = mean_of(opening, latency);
  gain.floor_ms = mean_of(opening, floor_of);
  gain.latency_ms = gain.baseline_latency_ms;
  if (!summary.winner) return gain;
  gain.confirmed = summary.confirmation.has_value() && summary.confirmation_decision.valid;
  const Evidence& evidence = gain.confirmed ? *summary.confirmation : summary.winner->evidence;
  const double log_ratio = gain.confirmed ? evidence.log_ratio : evidence.log_ratio_to_baseline;
  gain.speedup = speedup_of(log_ratio);
  gain.low = gain.high = gain.speedup;
  double low = 0;
  double high = 0;
  double weight = 0;
  for (const ShapeEvidence& shape : evidence.shapes) {
    low += shape.weight * shape.timing.log_ratio_low;
    high += shape.weight * shape.timing.log_ratio_high;
    weight += shape.weight;
    gain.pairs += shape.timing.pairs;
    gain.confidence = shape.timing.confidence;
  }
  if (gain.confirmed && weight > 0) {
    gain.low = speedup_of(high / weight);
    gain.high = speedup_of(low / weight);
  }
  if (const double floor = mean_of(evidence.shapes, floor_of); floor > 0) gain.floor_ms = floor;
  if (gain.confirmed) {
    // Before and after from the same window: two of the paired medians, not two hours of a shared machine.
    gain.latency_ms = mean_of(evidence.shapes, latency);
    const double before = mean_of(
        evidence.shapes, [](const ShapeEvidence& shape) { return shape.timing.incumbent_latency_ms; });
    if (before > 0) gain.baseline_latency_ms = before;
  } else if (gain.speedup > 0) {
    gain.latency_ms = gain.baseline_latency_ms / gain.speedup;
  }
  return gain;
}

std::string closing_table(const RunEnd& end, bool color, int columns, bool utf8) {
  const tune::Summary& summary = *end.summary;
  const tune::RunHeader& header = *end.header;
  const Case& c = *end.c;
  const term::Style style(color);
  const Gain gain = gain_of(summary);
  const json::object base = header_baseline(header);
  term::Table table({{"case"}, {c.name}});
  table.title(std::string("tunesmith ") + TUNESMITH_VERSION);
  const auto row = [&](const char* name, const std::string& value) {
    if (!value.empty()) table.row({style.dim(name), value});
  };
  row("", c.description.substr(0, c.description.find_first_of(".:")));
  row("machine", fmt::format("{}, {} thread{}, {} caches", header.machine, c.limits.threads,
                             c.limits.threads == 1 ? "" : "s", c.clock == ClockMode::warm ? "warm" : "cold"));
  table.rule();
  const bool won = passed(summary);
  const std::string base_light = light_text(gain.floor_ms, gain.baseline_latency_ms);
  row("baseline", fmt::format("{}  {}{}", style.bold(ms_text(gain.baseline_latency_ms)), c.baseline.label,
                              base_light.empty() ? "" : ", " + base_light + " of the speed of light"));
  if (won) {
    const std::string light = light_text(gain.floor_ms, gain.latency_ms);
    row("winner",
        fmt::format("{}  candidate {}{}", style.bold(style.green(ms_text(gain.latency_ms))),
                    summary.winner->id, light.empty() ? "" : ", " + light + " of the speed of light"));
    // Whole, in as many rows as it takes: this is what people copy.
    const std::string winner = fold(winner_text(*summary.winner, base), 0, k_config_columns);
    for (const std::string_view line : split_lines(winner)) {
      row("", std::string(line));
    }
    row("speed-up", style.bold(style.green(times_text(gain.speedup))) +
                        (gain.confirmed ? fmt::format("  ({:.0f} % interval {:.3f} to {:.3f}, {} pair{}, {})",
                                                      gain.confidence * 100, gain.low, gain.high, gain.pairs,
                                                      gain.pairs == 1 ? "" : "s",
                                                      c.recording ? "replayed" : "fresh process and inputs")
                                        : "  (not confirmed yet)"));
    if (summary.winner->evidence.self_reported) {
      row("trust", style.bold(style.red("SELF-REPORTED: these times are the candidate's own words")));
    }
    if (summary.confirmation && summary.confirmation->shapes.size() > 1) {
      for (const ShapeEvidence& shape : summary.confirmation->shapes) {
        row("",
            fmt::format("{}: {} to {}, {}", shape.shape, ms_text(shape.timing.incumbent_latency_ms),
                        ms_text(shape.timing.latency_ms), times_text(speedup_of(shape.timing.log_ratio))));
      }
    }
  } else {
    std::string why = "the baseline stands: no candidate was faster beyond doubt and met the gate";
    if (summary.winner) {
      why = fmt::format("candidate {} was refused when it was measured again: {}", summary.winner->id,
                        summary.confirmation_decision.detail);
    }
    row("winner", style.yellow("none") + "  " + why);
  }
  table.rule();
  row("tried", fmt::format("{} in {}", end.tally.text(), duration_text(std::round(summary.seconds))));
  row("kept", fmt::format("{} improvement{}, {} rollback{}", summary.kept, summary.kept == 1 ? "" : "s",
                          summary.rollbacks, summary.rollbacks == 1 ? "" : "s"));
  row("ended", fmt::format("{}{}", tune::name_of(summary.end),
                           summary.end_detail.empty() ? "" : ": " + summary.end_detail));
  row("isolation", summary.opening.isolation);
  row("strategy", fmt::format("{}, seed {}", header.strategy, header.seed));
  std::string out = table.text(utf8 ? term::Lines::box : term::Lines::ascii, style,
                               static_cast<std::size_t>(std::max(0, columns)));
  // Paths and commands stand below the box: there they can be copied whole.
  if (won) {
    if (!end.result_file.empty()) out += fmt::format("result     {}\n", end.result_file);
    if (!c.recording) out += fmt::format("apply      tunesmith apply {}\n", header.run);
  }
  out += fmt::format("look       tunesmith top {}\n", header.run);
  out += fmt::format("reproduce  {}\n", reproduce_line(end));
  return out;
}

json::object closing_json(const RunEnd& end) {
  const tune::Summary& summary = *end.summary;
  const tune::RunHeader& header = *end.header;
  const Gain gain = gain_of(summary);
  const bool won = passed(summary);
  json::object out;
  out["run"] = header.run;
  out["folder"] = end.folder;
  out["case"] = header.case_name;
  out["strategy"] = header.strategy;
  out["seed"] = header.seed;
  out["end"] = tune::name_of(summary.end);
  out["end_detail"] = summary.end_detail;
  out["improved"] = won;
  json::object baseline;
  baseline["label"] = end.c->baseline.label;
  baseline["config"] = header_baseline(header);
  baseline["latency_ms"] = gain.baseline_latency_ms;
  out["baseline"] = std::move(baseline);
  if (won) {
    json::object winner;
    winner["trial"] = summary.winner->id;
    winner["config"] = summary.winner->config;
    winner["patched"] = !summary.winner->diff.empty();
    winner["latency_ms"] = gain.latency_ms;
    winner["confirmed"] = gain.confirmed;
    winner["self_reported"] = summary.winner->evidence.self_reported;
    out["winner"] = std::move(winner);
    out["speedup"] = gain.speedup;
    out["speedup_low"] = gain.low;
    out["speedup_high"] = gain.high;
    out["confidence"] = gain.confidence;
    out["pairs"] = gain.pairs;
  } else {
    out["winner"] = nullptr;
    out["speedup"] = 1.0;
  }
  out["speed_of_light_ms"] = gain.floor_ms;
  out["fraction_of_speed_of_light"] = gain.floor_ms > 0 && gain.latency_ms > 0
                                          ? json::value(gain.floor_ms / gain.latency_ms)
                                          : json::value(nullptr);
  out["evaluations"] = summary.evaluations;
  out["failures"] = summary.failures;
  out["tally"] = end.tally.to_json();
  out["duplicates"] = summary.duplicates;
  out["kept"] = summary.kept;
  out["rollbacks"] = summary.rollbacks;
  out["seconds"] = summary.seconds;
  out["isolation"] = summary.opening.isolation;
  out["toolchain"] = header.toolchain;
  out["machine"] = header.machine;
  if (end.c->recording) out["replayed"] = end.c->recording->file;
  json::array notes;
  for (const std::string& note : summary.opening.notes) notes.push_back(json::string(note));
  out["notes"] = std::move(notes);
  out["result"] = end.result_file.empty() ? json::value(nullptr) : json::value(json::string(end.result_file));
  out["resume"] = fmt::format("tunesmith tune --resume {}", header.run);
  out["reproduce"] = reproduce_line(end);
  return out;
}

}  // namespace tunesmith::app
