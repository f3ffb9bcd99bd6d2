#include <fmt/format.h>

#include <cmath>

#include "app/command.h"
#include "app/recorded_spaces.h"
#include "app/run_view.h"
#include "app/session.h"
#include "app/stop.h"
#include "app/tune_report.h"
#include "app/tune_view.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/random.h"
#include "base/text.h"
#include "bench/replay_bench.h"
#include "search/strategy.h"
#include "tune/runs.h"

namespace tunesmith::app {

namespace {

/// A person who gives no budget has a coffee's time; most spaces show their worth in it.
constexpr double k_default_minutes = 3;
constexpr std::uint64_t k_default_batch = 4;
/// Width of the closing table where there is no terminal: it fits an issue or a log.
constexpr int k_plain_columns = 110;

struct Work {
  Rules rules;
  std::string folder;
  tune::Journal journal;
};

Status check_simulated(const Arguments& arguments, double minutes) {
  const Place place{"", 0, 0, "--simulated-minutes"};
  if (arguments.has("--minutes"))
    return fail(ErrorCode::usage, "a run has one clock: --minutes or --simulated-minutes", "leave one out",
                place);
  if (!(minutes > 0))
    return fail(ErrorCode::usage, "must be above 0", "write it as in --simulated-minutes 30", place);
  return {};
}

/// --near-light P and --no-improve N, as given now or as the run began.
Status read_stop_rules(const Arguments& arguments, std::uint64_t& no_improve, double& near_light) {
  if (const auto rounds = arguments.count("--no-improve")) {
    if (*rounds == 0)
      return fail(ErrorCode::usage, "must be at least 1", "leave it out to search on",
                  Place{"", 0, 0, "--no-improve"});
    no_improve = *rounds;
  }
  if (const auto percent = arguments.number("--near-light")) {
    if (!(*percent > 0 && *percent <= 100))
      return fail(ErrorCode::usage, "must be a percentage above 0, at most 100",
                  "write it as in --near-light 80", Place{"", 0, 0, "--near-light"});
    near_light = *percent;
  }
  return {};
}

Result<Work> start(const Context& context) {
  const Arguments& arguments = context.arguments;
  if (!arguments.has("CASE")) {
    return fail(ErrorCode::usage, "tune needs CASE, or --resume RUN", "see tunesmith tune --help");
  }
  RunPlan plan;
  plan.strategy = arguments.text("--strategy", std::string(search::strategy_table().front().name));
  plan.seed = arguments.count("--seed").value_or(secret_seed() % 1'000'000'000);
  plan.evaluations = arguments.count("--evaluations").value_or(0);
  plan.minutes = arguments.number("--minutes").value_or(0);
  plan.batch = arguments.count("--batch").value_or(k_default_batch);
  plan.trust_self_reported = arguments.has("--trust-self-reported");
  if (plan.batch == 0)
    return fail(ErrorCode::usage, "a batch holds at least 1", "", Place{"", 0, 0, "--batch"});
  if (plan.minutes < 0 || (arguments.has("--minutes") && plan.minutes == 0)) {
    return fail(ErrorCode::usage, "must be above 0", "write it as in --minutes 1.5",
                Place{"", 0, 0, "--minutes"});
  }
  if (arguments.has("--evaluations") && plan.evaluations == 0) {
    return fail(ErrorCode::usage, "must be at least 1", "", Place{"", 0, 0, "--evaluations"});
  }
  TS_ASSIGN(Rules rules, read_rules(context));
  if (const auto simulated = arguments.number("--simulated-minutes")) {
    TS_TRY(check_simulated(arguments, *simulated));
    if (!rules.of->recording) {
      return fail(ErrorCode::usage, "only a recorded space has a recorded cost to charge",
                  "use --minutes, or name a recording", Place{"", 0, 0, "--simulated-minutes"});
    }
    plan.simulated_clock = true;
    plan.minutes = *simulated;
  }
  TS_TRY(read_stop_rules(arguments, plan.no_improve, plan.near_light));
  if (plan.evaluations == 0 && plan.minutes == 0 && plan.no_improve == 0) plan.minutes = k_default_minutes;
  // Asked for before the run's folder is made: a misspelt strategy leaves nothing behind.
  TS_TRY(search::make_strategy(plan.strategy, rules.of->space, plan.seed, {plan.evaluations}));
  TS_ASSIGN(tune::RunHeader header, make_header(rules, arguments, plan));
  if (arguments.has("--prior")) {
    // The path as it is now: "latest" will soon be this run itself.
    TS_ASSIGN(const std::string prior, find_prior(arguments.text("--prior")));
    TS_TRY(read_prior(prior, rules.of->space));
    header.extra["prior"] = prior;
  }
  TS_ASSIGN(const std::string folder, tune::new_run_folder(tune::runs_root(), rules.of->name));
  header.run = base_name(folder);
  TS_ASSIGN(tune::Journal journal, tune::Journal::create(folder, header));
  return Work{std::move(rules), folder, std::move(journal)};
}

std::string text_in(const json::object& extra, const char* key) {
  const json::value* text = extra.if_contains(key);
  return text != nullptr && text->is_string() ? std::string(text->as_string()) : std::string();
}

/// Everything comes from the run itself; only the budget may grow.
Result<Work> resume(const Context& context) {
  const Arguments& arguments = context.arguments;
  for (const char* flag : {"CASE", "--strategy", "--prior", "--seed", "--batch", "--gate", "--objective",
                           "--trust-self-reported"}) {
    if (arguments.has(flag)) {
      return fail(ErrorCode::usage, fmt::format("--resume takes {} from the run itself", flag),
                  "leave it out");
    }
  }
  TS_ASSIGN(const std::string folder, tune::find_run(tune::runs_root(), arguments.text("--resume")));
  TS_ASSIGN(tune::Journal journal, tune::Journal::resume(folder));
  const tune::RunHeader& header = journal.header();
  Arguments from_run;
  for (const auto& [key, flag] :
       {std::pair{"gate_file", "--gate"}, std::pair{"objective_file", "--objective"}}) {
    if (const std::string file = text_in(header.extra, key); !file.empty()) from_run.add(flag, file);
  }
  TS_ASSIGN(const Case c, load_case(header.case_file));
  TS_ASSIGN(Rules rules, rules_of(c, from_run));
  return Work{std::move(rules), folder, std::move(journal)};
}

Exit exit_for(const tune::Summary& summary) {
  using End = tune::Summary::End;
  if (summary.end == End::interrupted) return Exit::interrupted;
  if (summary.end == End::halted) return Exit::conflict;
  return passed(summary) ? Exit::success : Exit::nothing_passed;
}

Result<Exit> run(Context& context) {
  const Arguments& arguments = context.arguments;
  TS_ASSIGN(Work work, arguments.has("--resume") ? resume(context) : start(context));
  const Case& c = *work.rules.of;
  const tune::RunHeader header = work.journal.header();

  StopOnSignal stop;
  bench::SimulatedClock simulated_clock;
  bench::BenchOptions bench_opts = bench_options(header, work.folder, stop.flag());
  const bool simulated = has_simulated_clock(header);
  if (simulated) bench_opts.simulated_ns = simulated_clock.charged_ns();
  TS_ASSIGN(const auto bench, bench::make_bench(c, bench_opts));
  search::Prior prior;
  if (const std::string from = text_in(header.extra, "prior"); !from.empty()) {
    TS_ASSIGN(prior, read_prior(from, c.space));
  }
  TS_ASSIGN(const auto strategy,
            search::make_strategy(header.strategy, c.space, header.seed, {header.evaluations}, prior));
  tune::LoopOptions options;
  options.evaluations = arguments.count("--evaluations").value_or(header.evaluations);
  options.minutes = arguments.number("--minutes").value_or(header.minutes);
  if (const auto minutes = arguments.number("--simulated-minutes")) {
    TS_TRY(check_simulated(arguments, *minutes));
    if (!simulated)
      return fail(ErrorCode::usage, "this run began with the clock on the wall", "use --minutes",
                  Place{"", 0, 0, "--simulated-minutes"});
    options.minutes = *minutes;
  }
  if (const json::value* rounds = header.extra.if_contains("no_improve"))
    options.no_improve_rounds = json::value_to<std::uint64_t>(*rounds);
  double percent = 0;
  if (const json::value* light = header.extra.if_contains("near_light"))
    percent = json::value_to<double>(*light);
  TS_TRY(read_stop_rules(arguments, options.no_improve_rounds, percent));
  options.enough_of_light = percent / 100;
  options.batch = header.batch;
  options.stop = stop.flag();
  options.trust_self_reported = bench_opts.trust_self_reported;
  options.gate_file = text_in(header.extra, "gate_file");
  options.objective_file = text_in(header.extra, "objective_file");
  const Clock clock;
  tune::Loop loop(c, *bench, *strategy, work.journal, work.rules.gate, work.rules.objective, options,
                  simulated ? static_cast<const Clock&>(simulated_clock) : clock);
  if (!context.quiet && !context.json) {
    fmt::print(context.err, "{}: {} legal configurations, strategy {}, seed {}, run {}\n", c.name,
               c.space.count(), header.strategy, header.seed, header.run);
  }
  TuneView view(context, c.name, baseline_config(work.journal), clock);
  loop.on_progress([&](const tune::Progress& progress) { view.update(progress); });
  auto ended = loop.run();
  view.finish();
  if (!ended) {
    Error error = stop.explain(std::move(ended.error()), "opening");
    if (error.mend.empty())
      error.mend = fmt::format("everything measured is kept: tunesmith tune --resume {}", header.run);
    return tl::unexpected<Error>(std::move(error));
  }
  const tune::Summary& summary = *ended;

  RunEnd end;
  end.c = &c;
  end.header = &header;
  end.folder = work.folder;
  end.summary = &summary;
  end.tally = tally_of(work.journal.trials());
  // A result is what was confirmed; after Ctrl-C the journal alone holds the best so far.
  if (passed(summary) && summary.confirmation) {
    TS_TRY(tune::publish(tune::runs_root(), c, work.journal, *tune::reported_winner(summary)));
    end.result_file = work.folder + "/result.json";
  }
  if (context.json) {
    context.print_json(closing_json(end));
  } else if (context.quiet) {
    context.print(end.result_file.empty() ? "none" : end.result_file);
  } else {
    const int fd = fileno(context.out);
    const term::Surroundings around = fd >= 0 ? term::surroundings_of(fd) : term::Surroundings{};
    context.print(
        closing_table(end, context.color, around.terminal ? around.columns : k_plain_columns, around.utf8));
  }
  if (c.recording && !context.json) {
    context.say(fmt::format("replayed   from {}: nothing was measured on this machine{}", c.recording->file,
                            simulated ? "; the time is what it cost when it was recorded" : ""));
  }
  if (summary.end == tune::Summary::End::interrupted && !context.json) {
    std::fflush(context.out);
    fmt::print(context.err,
               "tunesmith: stopped; everything is kept. Go on with: tunesmith tune --resume {}\n",
               header.run);
  }
  return exit_for(summary);
}

}  // namespace

Command tune_command() {
  std::vector<std::string> strategies;
  for (const search::StrategyInfo& info : search::strategy_table()) strategies.emplace_back(info.name);
  return {
      .name = "tune",
      .summary = "Search a case's space for a faster kernel",
      .text =
          "Every candidate is built, checked against a float64 reference on fresh inputs, and timed "
          "interleaved with "
          "the best so far. Only what is faster beyond doubt and meets the gate is kept. The winner is "
          "measured again "
          "in a fresh process, and that is the figure you see.\n"
          "Without a budget it runs for 3 minutes or until the space is exhausted. Ctrl-C stops it cleanly; "
          "--resume "
          "goes on, also after a crash, without measuring anything twice.",
      .options =
          {
              {.name = "CASE",
               .kind = Kind::file,
               .value = "CASE",
               .help = "case file, the name of a shipped case, or a recorded space (docs/recordings.md)"},
              {.name = "--strategy",
               .kind = Kind::choice,
               .value = "S",
               .help = "how to search (tunesmith help strategies)",
               .fallback = strategies.front(),
               .choices = strategies},
              {.name = "--prior",
               .kind = Kind::text,
               .value = "FILE|RUN",
               .help = "start from what a recording or another run of this kernel found"},
              {.name = "--evaluations", .kind = Kind::count, .value = "N", .help = "stop after N candidates"},
              {.name = "--minutes",
               .kind = Kind::number,
               .value = "M",
               .help = "stop after M minutes",
               .fallback = "3, when nothing else limits it"},
              {.name = "--no-improve",
               .kind = Kind::count,
               .value = "N",
               .help = "stop after N rounds (batches) without an improvement"},
              {.name = "--near-light",
               .kind = Kind::number,
               .value = "PERCENT",
               .help = "stop when the best reaches this much of the machine's speed of light"},
              {.name = "--simulated-minutes",
               .kind = Kind::number,
               .value = "M",
               .help =
                   "of a recorded space: stop when what was tried had cost M minutes when it was recorded"},
              {.name = "--seed",
               .kind = Kind::count,
               .value = "K",
               .help = "repeat a search: the same seed proposes the same candidates"},
              {.name = "--resume",
               .kind = Kind::run,
               .value = "RUN",
               .help = "go on with a run that was stopped or killed"},
              {.name = "--batch",
               .kind = Kind::count,
               .value = "B",
               .help = "candidates proposed and built at once",
               .fallback = std::to_string(k_default_batch)},
              {.name = "--gate",
               .kind = Kind::file,
               .value = "FILE",
               .help = "acceptance gate instead of the case's own"},
              {.name = "--objective",
               .kind = Kind::file,
               .value = "FILE",
               .help = "objective instead of the case's own"},
              {.name = "--trust-self-reported",
               .help = "let figures that a command reports about itself win; the report says so in red"},
          },
      .examples =
          {
              {"tunesmith tune cases/demo.json", "three minutes on a shipped kernel"},
              {"tunesmith tune my_kernel.case.json --evaluations 50 --seed 1",
               "a short search that can be repeated"},
              {"tunesmith tune recordings/cpu-softmax.jsonl.gz --simulated-minutes 10",
               "search a recorded space: no compiler and no device is needed"},
              {"tunesmith tune --resume latest", "go on after Ctrl-C, a crash or a power cut"},
          },
      .exits = {Exit::nothing_passed, Exit::unavailable, Exit::conflict, Exit::interrupted},
      .run = run,
  };
}

}  // namespace tunesmith::app
