#include <fmt/format.h>

#include "app/command.h"
#include "app/inputs.h"
#include "app/numbers.h"
#include "app/stop.h"
#include "base/file.h"
#include "bench/bench.h"

namespace tunesmith::app {

namespace {

std::string count_text(const space::Space& space) {
  if (space.parameters().empty()) return "no parameters";
  return fmt::format("{} legal of {:.0f} configurations over {} parameters", space.count(), space.cartesian(),
                     space.parameters().size());
}

Result<Exit> run(Context& context) {
  TS_ASSIGN(const Rules rules, read_rules(context));
  const Case& c = *rules.of;
  json::object answer;
  answer["case"] = c.name;
  answer["configurations"] = c.space.count();
  answer["shapes"] = c.shapes.size();
  answer["gate"] = rules.gate.to_json();
  context.say(fmt::format("case       {} ({})", c.name, c.file));
  context.say(fmt::format("space      {}", count_text(c.space)));
  context.say(fmt::format("shapes     {} scored, {} held out", c.shapes.size(), c.held_out_shapes.size()));
  if (context.arguments.has("--read-only")) {
    answer["ok"] = true;
    answer["ran"] = false;
    if (context.json) context.print_json(answer);
    context.say("ok         it reads; nothing was run");
    return Exit::success;
  }
  StopOnSignal stop;
  TS_ASSIGN(const TempDir folder, TempDir::make());
  bench::BenchOptions options;
  options.run_folder = folder.path();
  options.stop = stop.flag();
  TS_ASSIGN(const auto one, bench::make_bench(c, options));
  const auto opening = one->open();
  if (!opening && stop.stopped()) return tl::unexpected<Error>(stop.explain(opening.error(), "checking"));
  if (!opening) {
    // The lint's refusal is this verb's answer, not an accident on the way to it.
    if (opening.error().code != ErrorCode::invalid) return tl::unexpected<Error>(opening.error());
    answer["ok"] = false;
    answer["message"] = opening.error().line();
    if (context.json) {
      context.print_json(answer);
    } else {
      context.print("FAIL       " + opening.error().line());
    }
    return Exit::failed;
  }
  json::array shapes;
  for (const ShapeEvidence& shape : opening->baseline.shapes) {
    context.say(fmt::format("baseline   {}: {}, max error {:.3g}, {} of the speed of light", shape.shape,
                            ms_text(shape.timing.latency_ms), shape.check.max_abs_error,
                            shape.timing.latency_ms > 0 && shape.timing.floor_ms > 0
                                ? percent_text(shape.timing.floor_ms / shape.timing.latency_ms)
                                : "unknown part"));
    shapes.push_back(json::object{{"shape", shape.shape},
                                  {"latency_ms", shape.timing.latency_ms},
                                  {"max_abs_error", shape.check.max_abs_error},
                                  {"floor_ms", shape.timing.floor_ms}});
  }
  answer["ok"] = true;
  answer["ran"] = true;
  answer["baseline"] = std::move(shapes);
  answer["isolation"] = opening->isolation;
  answer["toolchain"] = opening->toolchain;
  json::array notes;
  for (const std::string& note : opening->notes) {
    context.say("note       " + note);
    notes.push_back(json::string(note));
  }
  answer["notes"] = std::move(notes);
  context.say("isolation  " + opening->isolation);
  context.say(
      c.recording
          ? "ok         it reads; a replay measures nothing that could be checked"
          : "ok         wrong results fail its tolerance, its baseline passes, the canaries were caught");
  if (context.json) context.print_json(answer);
  return Exit::success;
}

}  // namespace

Command case_check_command() {
  return {
      .name = "case check",
      .summary = "Check a case before time is spent on it: lint, canaries, baseline",
      .text =
          "Zeros, ones, NaN, a copy of an input and the previous output must all fail the case's tolerance, "
          "and its "
          "baseline must pass. A deliberately wrong mutant must be refused and a deliberately slowed one "
          "must show "
          "as slower. tune does the same at its start.",
      .options =
          {
              {.name = "CASE",
               .kind = Kind::file,
               .value = "CASE",
               .help = "case file, or the name of a shipped case",
               .required = true},
              {.name = "--gate",
               .kind = Kind::file,
               .value = "FILE",
               .help = "gate file to read along with it"},
              {.name = "--objective",
               .kind = Kind::file,
               .value = "FILE",
               .help = "objective to read along with it"},
              {.name = "--read-only", .help = "only read and count; build and run nothing"},
          },
      .examples = {{"tunesmith case check my_kernel.case.json", "after every edit of the case"}},
      .exits = {Exit::failed},
      .run = run,
  };
}

}  // namespace tunesmith::app
