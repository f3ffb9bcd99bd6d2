#include "app/apply.h"

#include <fmt/format.h>

#include "app/command.h"
#include "app/numbers.h"
#include "base/file.h"

namespace tunesmith::app {

namespace {

Result<Exit> run(Context& context) {
  TS_ASSIGN(const tune::Journal journal, open_run(context));
  const tune::RunHeader& header = journal.header();
  const std::vector<tune::Trial> trials = journal.trials();
  const Winner best = winner_of(journal, trials);
  const tune::Trial* winner = best.trial;
  if (winner == nullptr) {
    if (context.json) context.print_json(json::object{{"run", header.run}, {"winner", nullptr}});
    context.say(fmt::format("{}: the baseline stands, there is nothing to apply", header.run));
    return Exit::nothing_passed;
  }
  TS_ASSIGN(const Case c, load_case(header.case_file));
  if (c.text_sha256 != header.case_sha256) {
    context.remark(
        fmt::format("{} has changed since the run began; what is written is what was measured then", c.file));
  }
  const std::vector<Choice> choices = choose_per_shape(c, trials, *winner);
  const std::string folder = context.arguments.text("--out", journal.folder() + "/applied");
  TS_TRY(make_folders(folder));
  std::vector<std::string> files;
  const auto write = [&](const std::string& name, const std::string& text) -> Status {
    const std::string path = folder + "/" + name;
    TS_TRY(write_file_atomic(path, text));
    files.push_back(path);
    return {};
  };
  TS_ASSIGN(const std::string text, defines_header(c, header, best, choices));
  TS_TRY(write(c.name + ".tuned.h", text));
  TS_TRY(write(c.name + ".tuned.json", print_json(dispatch_json(c, header, best, choices))));
  if (!winner->diff.empty()) TS_TRY(write(c.name + ".patch", winner->diff));
  if (context.json) {
    json::array list;
    for (const std::string& file : files) list.push_back(json::string(file));
    context.print_json(
        json::object{{"run", header.run}, {"candidate", winner->id}, {"files", std::move(list)}});
    return Exit::success;
  }
  context.say(fmt::format("candidate {}, {} the baseline: {}", winner->id,
                          times_text(speedup_of(best.log_ratio)), config_text(winner->config)));
  for (const std::string& file : files) context.print(file);
  if (!winner->diff.empty())
    context.say(fmt::format("patch your sources with: git apply {}/{}.patch", folder, c.name));
  return Exit::success;
}

}  // namespace

Command apply_command() {
  return {
      .name = "apply",
      .summary = "Write a run's winner as a header of #defines, as JSON, and as a patch where there is one",
      .text =
          "Over several shapes both hold a table from shape to configuration. Nothing outside the folder is "
          "touched: "
          "whether and where it goes into your code is yours to decide.",
      .options =
          {
              {.name = "RUN",
               .kind = Kind::run,
               .value = "RUN",
               .help = "name, unique prefix, path or latest",
               .fallback = "latest"},
              {.name = "--out",
               .kind = Kind::file,
               .value = "FOLDER",
               .help = "where to write",
               .fallback = "applied/ in the run's folder"},
          },
      .examples = {{"tunesmith apply latest --out tuned", "tuned/CASE.tuned.h and tuned/CASE.tuned.json"}},
      .exits = {Exit::nothing_passed},
      .run = run,
  };
}

}  // namespace tunesmith::app
