#include <fmt/format.h>

#include "app/command.h"
#include "app/numbers.h"
#include "app/run_view.h"
#include "case/reason.h"
#include "term/table.h"

namespace tunesmith::app {

namespace {

Result<Exit> run(Context& context) {
  TS_ASSIGN(const tune::Journal journal, open_run(context));
  const std::vector<tune::Trial> trials = journal.trials();
  std::vector<const tune::Trial*> best = ranking(trials);
  const std::size_t limit = context.arguments.count("-k").value_or(10);
  if (best.size() > limit) best.resize(limit);
  const json::object base = baseline_config(journal);
  if (context.json) {
    json::array list;
    for (const tune::Trial* trial : best) {
      list.push_back(json::object{{"trial", trial->id},
                                  {"config", trial->config},
                                  {"speedup", speedup_of(trial->evidence.log_ratio_to_baseline)},
                                  {"objective", trial->decision.objective},
                                  {"verdict", judge::name_of(trial->decision.verdict)},
                                  {"reason", code_of(trial->decision.reason)},
                                  {"kept", trial->decision.keep},
                                  {"patched", !trial->diff.empty()}});
    }
    context.print_json(list);
    return Exit::success;
  }
  if (best.empty()) {
    context.say("no candidate has passed yet: the baseline stands");
    return Exit::success;
  }
  const term::Style style(context.color);
  term::Table table(
      {{"trial", term::Align::right}, {"vs. baseline", term::Align::right}, {"verdict"}, {"what differs"}});
  for (const tune::Trial* trial : best) {
    const double speedup = speedup_of(trial->evidence.log_ratio_to_baseline);
    std::string config = config_text(trial->config, base.empty() ? nullptr : &base);
    if (config.empty()) config = "nothing";
    if (!trial->diff.empty()) config += " + patch";
    const std::string verdict =
        trial->decision.keep ? style.green("kept") : judge::name_of(trial->decision.verdict);
    table.row({std::to_string(trial->id), times_text(speedup), verdict, config});
  }
  const auto around = term::surroundings_of(fileno(context.out));
  context.print(
      table.text(term::Lines::none, style, around.terminal ? static_cast<std::size_t>(around.columns) : 0));
  return Exit::success;
}

}  // namespace

Command top_command() {
  return {
      .name = "top",
      .summary = "List the fastest candidates of a run",
      .text =
          "Speeds are paired against the candidate that held the lead at that time and chained to the "
          "baseline. Only "
          "a kept candidate was faster beyond doubt; the rest of the order is within the noise.",
      .options =
          {
              {.name = "RUN",
               .kind = Kind::run,
               .value = "RUN",
               .help = "name, unique prefix, path or latest",
               .fallback = "latest"},
              {.name = "-k", .kind = Kind::count, .value = "N", .help = "how many", .fallback = "10"},
          },
      .examples = {{"tunesmith top latest -k 5", "the five fastest"}},
      .exits = {},
      .run = run,
  };
}

}  // namespace tunesmith::app
