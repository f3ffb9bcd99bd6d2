#include "tune/runs.h"

#include <fmt/format.h>

#include <filesystem>

#include "app/command.h"
#include "app/numbers.h"
#include "app/run_view.h"
#include "base/file.h"

namespace tunesmith::app {

namespace {

struct Line {
  std::string run, case_name, started, best, state;
  std::size_t evaluations = 0;
};

Line line_of(const std::string& folder) {
  Line line;
  line.run = base_name(folder);
  const auto journal = tune::Journal::read_only(folder);
  if (!journal) {
    line.state = "unreadable: " + journal.error().message;
    return line;
  }
  line.case_name = journal->header().case_name;
  line.started = journal->header().started_utc;
  const std::vector<tune::Trial> trials = journal->trials();
  for (const tune::Trial& trial : trials) line.evaluations += trial.id != 0 && trial.ended ? 1 : 0;
  const Winner winner = winner_of(*journal, trials);
  line.best = winner.trial == nullptr ? "baseline" : times_text(speedup_of(winner.log_ratio));
  line.state = tune::run_in_use(folder) ? "running" : "broken off";
  for (const auto& [kind, detail] : journal->events()) {
    if ((kind == "stop" || kind == "halt") && line.state != "running") {
      const json::value* end = detail.if_contains("end");
      line.state = end != nullptr && end->is_string() ? std::string(end->as_string()) : kind;
    }
  }
  return line;
}

Result<Exit> run(Context& context) {
  const std::string root = tune::runs_root();
  std::vector<Line> lines;
  for (const std::string& folder : tune::list_runs(root)) lines.push_back(line_of(folder));
  if (context.json) {
    json::array list;
    for (const Line& line : lines) {
      list.push_back(json::object{{"run", line.run},
                                  {"case", line.case_name},
                                  {"started_utc", line.started},
                                  {"evaluations", line.evaluations},
                                  {"best", line.best},
                                  {"state", line.state}});
    }
    context.print_json(list);
    return Exit::success;
  }
  if (lines.empty()) {
    context.say(fmt::format("no runs under {}; tunesmith tune CASE makes one", root));
    return Exit::success;
  }
  std::size_t widest = 3;
  for (const Line& line : lines) widest = std::max(widest, line.run.size());
  context.say(
      fmt::format("{:<{}}  {:<20}  {:>5}  {:>9}  {}", "run", widest, "started", "tried", "best", "state"));
  for (const Line& line : lines) {
    context.print(fmt::format("{:<{}}  {:<20}  {:>5}  {:>9}  {}", line.run, widest, line.started,
                              line.evaluations, line.best, line.state));
  }
  return Exit::success;
}

std::uint64_t size_of_tree(const std::string& folder) {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (auto it = std::filesystem::recursive_directory_iterator(folder, error);
       !error && it != std::filesystem::recursive_directory_iterator(); it.increment(error)) {
    std::error_code ignored;
    if (it->is_regular_file(ignored) && !it->is_symlink(ignored)) bytes += it->file_size(ignored);
  }
  return bytes;
}

Result<Exit> prune(Context& context) {
  const auto keep = context.arguments.count("--keep");
  if (!keep)
    return fail(ErrorCode::usage, "say how many of the newest runs stay: --keep N",
                "see tunesmith runs prune --help");
  const bool dry = context.arguments.has("--dry-run");
  const std::string root = tune::runs_root();
  const std::size_t all = tune::list_runs(root).size();
  // First what would go, to add up its size; then the same for real.
  TS_ASSIGN(const tune::Pruned planned, tune::prune(root, *keep, std::nullopt, true));
  json::array removed;
  std::uint64_t freed = 0;
  for (const std::string& folder : planned.removed) {
    const std::uint64_t bytes = size_of_tree(folder);
    freed += bytes;
    removed.push_back(json::string(base_name(folder)));
    if (!context.json) context.print(fmt::format("{}  {}", base_name(folder), bytes_text(bytes)));
  }
  for (const std::string& folder : planned.kept)
    context.remark(fmt::format("{} is in use or latest and stays", base_name(folder)));
  if (!dry) {
    TS_ASSIGN(const tune::Pruned done, tune::prune(root, *keep, std::nullopt, false));
    if (done.removed.size() != planned.removed.size())
      context.remark("the runs changed meanwhile; look again with tunesmith runs");
  }
  if (context.json) {
    context.print_json(json::object{{"removed", removed}, {"bytes", freed}, {"dry_run", dry}});
  } else {
    context.say(fmt::format("{} {} of {} runs, {}", dry ? "would remove" : "removed", removed.size(), all,
                            bytes_text(freed)));
  }
  return Exit::success;
}

}  // namespace

Command runs_command() {
  return {
      .name = "runs",
      .summary = "List the runs, oldest first",
      .text = "Runs live under ./runs, or where TUNESMITH_RUNS points.",
      .options = {},
      .examples = {{"tunesmith runs --json", "the list for a script"}},
      .exits = {},
      .run = run,
  };
}

Command runs_prune_command() {
  return {
      .name = "runs prune",
      .summary = "Remove old runs with everything in them",
      .text = "Keeps the newest N, the one that latest points at, and any run that a process is working on.",
      .options =
          {
              {.name = "--keep",
               .kind = Kind::count,
               .value = "N",
               .help = "how many of the newest runs stay (needed)"},
              {.name = "--dry-run", .help = "only say what would go"},
          },
      .examples = {{"tunesmith runs prune --keep 10 --dry-run", "look before removing"}},
      .exits = {},
      .run = prune,
  };
}

}  // namespace tunesmith::app
