#include "bench/bench.h"

#include <fmt/format.h>

#include <array>

#include "app/command.h"
#include "app/numbers.h"
#include "app/session.h"
#include "app/stop.h"
#include "base/file.h"
#include "base/random.h"
#include "judge/judge.h"
#include "tune/runs.h"

namespace tunesmith::app {

namespace {

/// A plain configuration, or any JSON that carries one under "config" (a result of this program or of
/// another).
Result<space::Config> read_config(const Case& c, const std::string& file) {
  TS_ASSIGN(const Node node, Node::read(file));
  if (!node.is_object()) return node.error("a configuration is a JSON object", "as in {\"TILE\": 8}");
  if (const auto inner = node.find("config");
      inner && inner->is_object() && !c.space.parameter_index("config")) {
    return c.space.from_json(*inner);
  }
  return c.space.from_json(node);
}

struct Trialled {
  Evidence evidence;
  judge::Decision decision;
};

Trialled evaluate(bench::Bench& bench, const Candidate& candidate, const Rules& rules,
                  const bench::Opening& opening, bool trust) {
  Trialled out;
  const std::array<Candidate, 1> one = {candidate};
  const std::vector<bench::Built> built = bench.build(one);
  if (built.front().evidence.outcome == BuildEvidence::Outcome::ok) {
    out.evidence = bench.measure(candidate, built.front());
  } else {
    out.evidence.build = built.front().evidence;
    out.evidence.rejection = built.front().evidence.reason;
    out.evidence.rejection_detail = built.front().evidence.detail;
    out.evidence.infra = built.front().evidence.outcome == BuildEvidence::Outcome::infra;
  }
  judge::Standing standing;
  standing.baseline_latency_ms = judge::latency_of(opening.baseline);
  standing.trust_self_reported = trust;
  out.decision = judge::decide(out.evidence, *rules.of, rules.gate, rules.objective, standing);
  return out;
}

Result<Exit> run(Context& context) {
  const Arguments& arguments = context.arguments;
  const std::string out_file = arguments.text("--out");
  for (const char* needed : {"--case", "--config"}) {
    if (!arguments.has(needed))
      return fail(ErrorCode::usage, fmt::format("bench needs {} FILE", needed), "see tunesmith bench --help");
  }
  TS_TRY(refuse_existing(out_file));
  TS_ASSIGN(const Rules rules, read_rules(context));
  const Case& c = *rules.of;
  Candidate candidate;
  TS_ASSIGN(candidate.config, read_config(c, arguments.text("--config")));
  if (const auto broken = c.space.broken(candidate.config)) {
    return fail(ErrorCode::invalid, *broken, "choose values that keep the constraint",
                Place{arguments.text("--config"), 0, 0, {}});
  }
  if (arguments.has("--diff")) {
    TS_ASSIGN(candidate.diff, read_file(arguments.text("--diff"), 1U << 20));
    TS_TRY(patched_sources(c, candidate.diff));
  }

  RunPlan plan;
  plan.strategy = "bench";
  plan.seed = arguments.count("--seed").value_or(secret_seed() % 1'000'000'000);
  plan.evaluations = 1;
  plan.trust_self_reported = arguments.has("--trust-self-reported");
  TS_ASSIGN(tune::RunHeader header, make_header(rules, arguments, plan));
  const std::string root = tune::runs_root();
  const StopOnSignal stop;  // from before there is anything to leave behind
  TS_ASSIGN(const std::string folder, tune::new_run_folder(root, c.name));
  header.run = base_name(folder);
  TS_ASSIGN(tune::Journal journal, tune::Journal::create(folder, header));
  TS_ASSIGN(const auto bench, bench::make_bench(c, bench_options(header, folder, stop.flag())));
  auto opened = bench->open();
  if (!opened) return tl::unexpected<Error>(stop.explain(std::move(opened.error()), "opening"));
  const bench::Opening& opening = *opened;
  TS_ASSIGN(const std::string identity, bench->identity(candidate));
  const json::object config = c.space.to_json(candidate.config);
  TS_ASSIGN(const std::int64_t id, journal.propose(1, config, candidate.diff, identity));
  TS_TRY(journal.start(id));
  const Trialled trialled = evaluate(*bench, candidate, rules, opening, plan.trust_self_reported);
  if (stop.stopped())
    return fail(ErrorCode::interrupted, "stopped before the measurement ended", "run it again");
  TS_TRY(journal.end(id, trialled.evidence, trialled.decision));

  const std::vector<tune::Trial> trials = journal.trials();
  const auto trial =
      std::find_if(trials.begin(), trials.end(), [&](const tune::Trial& t) { return t.id == id; });
  if (trial == trials.end()) return fail(ErrorCode::internal, "the journal lost the trial it was just given");
  const json::object result = tune::result_json(c, journal.header(), *trial, &opening);
  TS_TRY(tune::publish(root, c, journal, *trial));
  if (!out_file.empty()) TS_TRY(write_new_file(out_file, print_json(result)));

  if (context.json) {
    context.print_json(result);
  } else {
    const judge::Decision& decision = trialled.decision;
    context.print(
        fmt::format("{}{}{}", judge::name_of(decision.verdict),
                    decision.reason == Reason::none ? "" : fmt::format(" {}", code_of(decision.reason)),
                    decision.detail.empty() ? "" : ": " + decision.detail));
    for (const ShapeEvidence& shape : trialled.evidence.shapes) {
      context.say(fmt::format(
          "  {}: {} against {}, {} of the baseline's speed ({} pairs), max error {:.3g}", shape.shape,
          ms_text(shape.timing.latency_ms), ms_text(shape.timing.incumbent_latency_ms),
          times_text(speedup_of(shape.timing.log_ratio)), shape.timing.pairs, shape.check.max_abs_error));
    }
    context.say(fmt::format("result {}", out_file.empty() ? folder + "/result.json" : out_file));
  }
  if (trialled.evidence.infra) return Exit::infrastructure;
  return trialled.decision.valid ? Exit::success : Exit::failed;
}

}  // namespace

Command bench_command() {
  return {
      .name = "bench",
      .summary = "Build, check and time one candidate against the baseline; write its result JSON",
      .text =
          "The candidate is a configuration, and with --diff also a patch of the case's editable files. Its "
          "result is "
          "kept in a run of its own under runs/, with the full compiler log; --out writes a copy and never "
          "overwrites a file.",
      .options =
          {
              {.name = "--case",
               .kind = Kind::file,
               .value = "CASE",
               .help = "case file, or the name of a shipped case"},
              {.name = "--config",
               .kind = Kind::file,
               .value = "FILE",
               .help = "JSON with a value for every parameter"},
              {.name = "--out", .kind = Kind::file, .value = "FILE", .help = "write the result here too"},
              {.name = "--diff",
               .kind = Kind::file,
               .value = "FILE",
               .help = "unified diff on the case's editable files"},
              {.name = "--gate",
               .kind = Kind::file,
               .value = "FILE",
               .help = "gate file instead of the case's own"},
              {.name = "--objective",
               .kind = Kind::file,
               .value = "FILE",
               .help = "objective instead of the case's own"},
              {.name = "--seed",
               .kind = Kind::count,
               .value = "K",
               .help = "seed of everything random but the inputs"},
              {.name = "--trust-self-reported",
               .help = "believe the figures of a command that reports its own"},
          },
      .examples = {{"tunesmith bench --case cpu-gemm-skinny --config try.json --out try.result.json",
                    "status 0 when it is correct and measured, 1 when it is refused"}},
      .exits = {Exit::failed, Exit::unavailable, Exit::conflict},
      .run = run,
  };
}

}  // namespace tunesmith::app
