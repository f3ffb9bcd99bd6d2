#include <fmt/format.h>

#include <charconv>

#include "app/command.h"
#include "app/numbers.h"
#include "app/run_view.h"
#include "app/tally.h"
#include "base/text.h"
#include "case/reason.h"

namespace tunesmith::app {

namespace {

void row(Context& context, std::string_view name, const std::string& value) {
  if (!value.empty()) context.print(fmt::format("{:<12}{}", name, value));
}

/// A trial by its number, or by the first digits of its identity.
Result<const tune::Trial*> find_trial(const std::vector<tune::Trial>& trials, const std::string& name) {
  std::int64_t id = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
  const bool number = error == std::errc() && end == name.data() + name.size();
  const tune::Trial* found = nullptr;
  for (const tune::Trial& trial : trials) {
    if (number ? trial.id == id : trial.identity.starts_with(name)) {
      if (found != nullptr)
        return fail(ErrorCode::usage, fmt::format("\"{}\" fits several candidates", name),
                    "give more digits");
      found = &trial;
    }
  }
  if (found != nullptr) return found;
  return fail(
      ErrorCode::usage, fmt::format("the run has no candidate \"{}\"", printable(name)),
      trials.empty() ? "" : fmt::format("they are numbered 0 to {}; 0 is the baseline", trials.back().id));
}

json::object trial_json(const tune::Trial& trial) {
  json::object out;
  out["trial"] = trial.id;
  out["config"] = trial.config;
  out["diff"] = trial.diff;
  out["identity"] = trial.identity;
  out["starts"] = trial.starts.size();
  out["ended"] = trial.ended;
  out["started_utc"] = trial.started_utc;
  out["ended_utc"] = trial.ended_utc;
  if (trial.ended) {
    out["verdict"] = judge::name_of(trial.decision.verdict);
    out["reason"] = code_of(trial.decision.reason);
    out["detail"] = trial.decision.detail;
    out["kept"] = trial.decision.keep;
    out["log"] = trial.evidence.build.log_path;
    out["evidence"] = evidence_to_json(trial.evidence);
  }
  return out;
}

void show_trial(Context& context, const tune::Trial& trial) {
  row(context, "candidate", trial.id == 0 ? "0 (the baseline)" : std::to_string(trial.id));
  row(context, "config", config_text(trial.config));
  row(context, "identity", trial.identity);
  row(context, "started",
      fmt::format("{} ({} time{})", trial.started_utc, trial.starts.size(),
                  trial.starts.size() == 1 ? "" : "s"));
  if (!trial.ended) {
    row(context, "state", trial.starts.empty() ? "proposed, not begun" : "begun and never ended");
    return;
  }
  const Evidence& evidence = trial.evidence;
  row(context, "verdict",
      judge::name_of(trial.decision.verdict) + std::string(trial.decision.keep ? ", kept" : ""));
  row(context, "reason", std::string(code_of(trial.decision.reason)));
  row(context, "detail", printable(trial.decision.detail));
  row(context, "build", fmt::format("{:.0f} ms, {}", evidence.build.wall_ms, evidence.build.compiler));
  row(context, "flags", join(evidence.build.flags, " "));
  for (const ShapeEvidence& shape : evidence.shapes) {
    row(context, "shape",
        fmt::format("{}: {} against {} ({}, {} of {} checks, max error {:.3g})", shape.shape,
                    ms_text(shape.timing.latency_ms), ms_text(shape.timing.incumbent_latency_ms),
                    times_text(speedup_of(shape.timing.log_ratio)), shape.check.executed, shape.check.planned,
                    shape.check.max_abs_error));
  }
  row(context, "memory", evidence.peak_memory_bytes > 0 ? bytes_text(evidence.peak_memory_bytes) : "");
  row(context, "isolation", evidence.isolation);
  row(context, "full log",
      evidence.build.log_path.empty() ? "none: the compiler said nothing" : evidence.build.log_path);
  if (!evidence.build.log_excerpt.empty()) context.print("\n" + printable(evidence.build.log_excerpt));
  if (!trial.diff.empty()) context.print("\n" + printable(trial.diff));
}

Result<Exit> run(Context& context) {
  TS_ASSIGN(const tune::Journal journal, open_run(context));
  const std::vector<tune::Trial> trials = journal.trials();
  if (context.arguments.has("CANDIDATE")) {
    TS_ASSIGN(const tune::Trial* trial, find_trial(trials, context.arguments.text("CANDIDATE")));
    if (context.json) {
      context.print_json(trial_json(*trial));
    } else {
      show_trial(context, *trial);
    }
    return Exit::success;
  }
  const tune::RunHeader& header = journal.header();
  const Tally tally = tally_of(trials);
  const Winner best = winner_of(journal, trials);
  const tune::Trial* winner = best.trial;
  if (context.json) {
    json::object out;
    out["run"] = header.run;
    out["folder"] = journal.folder();
    out["case"] = header.case_name;
    out["case_file"] = header.case_file;
    out["case_sha256"] = header.case_sha256;
    out["gate_sha256"] = header.gate_sha256;
    out["objective_sha256"] = header.objective_sha256;
    out["strategy"] = header.strategy;
    out["seed"] = header.seed;
    out["started_utc"] = header.started_utc;
    out["machine"] = header.machine;
    out["toolchain"] = header.toolchain;
    out["tally"] = tally.to_json();
    out["winner"] = winner == nullptr ? json::value(nullptr) : json::value(trial_json(*winner));
    json::array list;
    for (const tune::Trial& trial : trials) {
      list.push_back(
          json::object{{"trial", trial.id},
                       {"ended", trial.ended},
                       {"reason", trial.ended ? code_of(trial.decision.reason) : std::string_view()},
                       {"kept", trial.ended && trial.decision.keep}});
    }
    out["trials"] = std::move(list);
    context.print_json(out);
    return Exit::success;
  }
  row(context, "run", header.run);
  row(context, "folder", journal.folder());
  row(context, "case", fmt::format("{} ({})", header.case_name, header.case_file));
  row(context, "strategy", fmt::format("{}, seed {}", header.strategy, header.seed));
  row(context, "started", header.started_utc);
  row(context, "machine", header.machine);
  row(context, "compiler", header.toolchain);
  row(context, "tried", tally.text());
  row(context, "winner",
      winner == nullptr ? "none: the baseline stands"
                        : fmt::format("{} ({}{}): {}", winner->id, times_text(speedup_of(best.log_ratio)),
                                      best.confirmed ? "" : ", not confirmed", config_text(winner->config)));
  context.say(fmt::format("\ntunesmith show {} {} tells all about one candidate", header.run,
                          winner == nullptr ? 1 : winner->id));
  return Exit::success;
}

}  // namespace

Command show_command() {
  return {
      .name = "show",
      .summary = "Show a run, or one candidate with its evidence and the path of its full log",
      .options =
          {
              {.name = "RUN",
               .kind = Kind::run,
               .value = "RUN",
               .help = "name, unique prefix, path or latest",
               .fallback = "latest"},
              {.name = "CANDIDATE",
               .kind = Kind::text,
               .value = "CANDIDATE",
               .help = "number of a candidate (0 is the baseline), or the first digits of its identity"},
          },
      .examples = {{"tunesmith show latest 12",
                    "why candidate 12 was kept or refused, and where its log is"}},
      .exits = {},
      .run = run,
  };
}

}  // namespace tunesmith::app
