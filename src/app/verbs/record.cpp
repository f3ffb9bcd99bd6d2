#include <fmt/format.h>

#include "app/numbers.h"
#include "app/recorder.h"
#include "app/session.h"
#include "app/stop.h"
#include "base/clock.h"
#include "base/file.h"
#include "recording/gzip.h"
#include "recording/write.h"
#include "term/live.h"

namespace tunesmith::app {

namespace {

std::string line_of(const RecordProgress& p) {
  std::string left;
  const std::uint64_t fresh = p.done - p.before;
  if (fresh > 0 && p.done < p.total) {
    const double seconds = p.seconds / static_cast<double>(fresh) * static_cast<double>(p.total - p.done);
    left = fmt::format(", about {} left", duration_text(seconds));
  }
  return fmt::format("{} of {} recorded, {} failed, best {} of the baseline's speed, {}{}", p.done, p.total,
                     p.failures, times_text(1 / p.best_ratio), duration_text(p.seconds), left);
}

/// A recorded space is not measured again: it is written in another form.
Result<Exit> convert(const Context& context, const Case& c, const std::string& out) {
  for (const char* flag : {"--where", "--subspace", "--limit"})
    if (context.arguments.has(flag))
      return fail(ErrorCode::usage, "a recorded space is written whole", "leave it out",
                  Place{"", 0, 0, flag});
  TS_TRY(refuse_existing(out));
  const bool t4 = context.arguments.text("--format", "tunesmith") == "t4";
  std::string text = t4 ? recording::to_t4(*c.recording) : recording::to_own(*c.recording);
  if (out.ends_with(".gz")) {
    TS_ASSIGN(text, recording::gzip(text));
  }
  TS_TRY(write_new_file(out, text));
  for (const std::string& note : c.recording->notes) context.remark(note);
  if (context.json) {
    context.print_json(json::object{{"out", out}, {"configurations", c.recording->entries.size()}});
  } else {
    context.print(fmt::format("{} configurations written to {}", c.recording->entries.size(), out));
  }
  return Exit::success;
}

Result<Exit> run(Context& context) {
  const Arguments& arguments = context.arguments;
  const std::string out = arguments.text("--out");
  if (out.empty())
    return fail(ErrorCode::usage, "record needs --out FILE", "as in --out recordings/mine.jsonl.gz");
  TS_ASSIGN(const Case c, load_case(arguments.text("CASE")));
  if (c.recording) return convert(context, c, out);
  if (arguments.text("--format", "tunesmith") != "tunesmith") {
    return fail(ErrorCode::usage, "what grows line by line is our own format",
                "record it, then write the recording as T4: tunesmith record FILE --format t4 --out FILE",
                Place{"", 0, 0, "--format"});
  }
  RecordPlan plan;
  plan.c = &c;
  TS_ASSIGN(plan.part, part_of(c, arguments.text("--subspace"), arguments.text("--where")));
  plan.limit = arguments.count("--limit");
  if (plan.limit && *plan.limit == 0)
    return fail(ErrorCode::usage, "must be at least 1", "", Place{"", 0, 0, "--limit"});
  constexpr std::uint64_t k_most = 1'000'000;
  if (plan.part.count() > k_most) {
    return fail(ErrorCode::usage, fmt::format("the space has {} configurations", plan.part.count()),
                "name a part of it with --where or --subspace", Place{"", 0, 0, {}});
  }
  plan.out = absolute_path(out);
  StopOnSignal stop;
  plan.stop = stop.flag();
  TS_ASSIGN(const TempDir folder, TempDir::make());
  bench::BenchOptions options;
  options.run_folder = folder.path();
  options.stop = stop.flag();
  TS_ASSIGN(const auto bench, bench::make_bench(c, options));
  if (!context.quiet && !context.json) {
    fmt::print(context.err, "{}: recording {} of {} legal configurations\n", c.name,
               plan.limit ? std::min(*plan.limit, plan.part.count()) : plan.part.count(), c.space.count());
  }
  term::Live live(fileno(context.err));
  const bool shown = !context.quiet && !context.json;
  std::int64_t noted_ns = monotonic_ns();
  auto ended = record_space(plan, *bench, [&](const RecordProgress& p) {
    constexpr std::int64_t k_note_ns =
        60'000'000'000;  // a log wants a line a minute, a terminal the last one
    if (!shown) return;
    if (live.redraws()) return live.show({line_of(p)});
    if (monotonic_ns() - noted_ns < k_note_ns) return;
    noted_ns = monotonic_ns();
    live.note(line_of(p));
  });
  live.finish();
  if (!ended) {
    Error error = stop.explain(std::move(ended.error()), "opening");
    return tl::unexpected<Error>(std::move(error));
  }
  const RecordProgress& p = ended->progress;
  if (context.json) {
    context.print_json(json::object{{"case", c.name},
                                    {"out", out},
                                    {"complete", ended->complete},
                                    {"recorded", p.done},
                                    {"total", p.total},
                                    {"failures", p.failures},
                                    {"left_out", ended->left_out},
                                    {"baseline_ms", ended->baseline_ms},
                                    {"best_ratio", p.best_ratio},
                                    {"seconds", p.seconds}});
  } else {
    context.print(fmt::format("{}: {}", out, line_of(p)));
  }
  if (ended->complete) return Exit::success;
  if (stop.stopped()) {
    context.remark("stopped; everything is kept. The same command goes on where it stood");
    return Exit::interrupted;
  }
  context.remark(fmt::format("{} configurations could not be judged here; the same command tries them again",
                             ended->left_out));
  return Exit::infrastructure;
}

}  // namespace

Command record_command() {
  return {
      .name = "record",
      .summary = "Measure a whole space, or a part of it, into a file that can be searched again and again",
      .text =
          "Every configuration is built, checked and timed against the case's baseline, failures included. "
          "The file grows by one line an evaluation: after Ctrl-C, a crash or a power cut the same command "
          "goes on. A finished recording is a case: tunesmith tune FILE searches it without compiler or "
          "device.\n"
          "Given a recorded space instead of a case, it writes it in another form and measures nothing.",
      .options =
          {
              {.name = "CASE",
               .kind = Kind::file,
               .value = "CASE",
               .help = "case file, the name of a shipped case, or a recorded space",
               .required = true},
              {.name = "--out",
               .kind = Kind::file,
               .value = "FILE",
               .help = "where to; a name that ends with .gz is packed when the recording is complete"},
              {.name = "--where",
               .kind = Kind::text,
               .value = "EXPR",
               .help = "record only configurations for which this holds, as in \"UNROLL <= 4\""},
              {.name = "--subspace",
               .kind = Kind::text,
               .value = "JSON",
               .help = "record only these values: a JSON file or text, as in '{\"TILE\": [8, 16]}'"},
              {.name = "--limit",
               .kind = Kind::count,
               .value = "N",
               .help = "a fair sample of N configurations instead of all"},
              {.name = "--format",
               .kind = Kind::choice,
               .value = "FORM",
               .help = "of a recorded space that is written anew",
               .fallback = "tunesmith",
               .choices = {"tunesmith", "t4"}},
          },
      .examples =
          {
              {"tunesmith record cases/demo.json --limit 200 --out demo.jsonl.gz",
               "a fair sample of a space"},
              {"tunesmith record cache_A100.json.gz --format t4 --out a100.t4.json",
               "another tuner's cache as T4 results"},
          },
      .exits = {Exit::unavailable, Exit::conflict, Exit::interrupted, Exit::infrastructure},
      .run = run,
  };
}

}  // namespace tunesmith::app
