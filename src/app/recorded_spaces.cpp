#include "app/recorded_spaces.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "tune/runs.h"

namespace tunesmith::app {

namespace {

std::optional<search::ReplaySpace> replay_space(recording::Recording recording) {
  std::vector<double> cost;
  cost.reserve(recording.entries.size());
  for (const recording::Entry& entry : recording.entries) cost.push_back(recording.cost_of(entry));
  auto made = search::ReplaySpace::create(recording.name, std::move(recording.space), std::move(cost));
  if (!made) return std::nullopt;
  made->kernel = recording.kernel;
  made->device = recording.device;
  return made;
}

/// By its name: when such a file is none, somebody wants to know.
bool looks_like_one(const std::string& name) {
  for (const char* ending : {".json", ".json.gz", ".jsonl", ".jsonl.gz", ".csv.gz"})
    if (name.ends_with(ending)) return true;
  return false;
}

Error nothing_in_common(const std::string& where) {
  return {ErrorCode::invalid, fmt::format("{} has no point of this space", printable(where)),
          "a prior must have the same parameters by name, and values in common", Place{"", 0, 0, "--prior"}};
}

Result<search::Prior> prior_of_run(const std::string& folder, const space::Space& space) {
  TS_ASSIGN(const tune::Journal journal, tune::Journal::read_only(folder));
  std::vector<search::PriorPoint> points;
  for (const tune::Trial& trial : journal.trials()) {
    if (!trial.ended) continue;
    TS_ASSIGN(const Node node, Node::parse(json::serialize(trial.config), folder));
    const auto config = space.from_json(node);
    if (!config) continue;
    const bool valid = trial.decision.valid && std::isfinite(trial.decision.objective);
    points.push_back({*config, valid, valid ? trial.decision.objective : 0});
  }
  if (points.empty()) return tl::unexpected<Error>(nothing_in_common(folder));
  search::Prior prior;
  prior.sources.push_back(std::move(points));
  return prior;
}

}  // namespace

Result<RecordedSpaces> read_recorded_spaces(const std::string& folder) {
  if (!is_folder(folder))
    return fail(ErrorCode::usage, fmt::format("{} is not a folder", printable(folder)),
                "name the folder that holds the recordings", Place{"", 0, 0, "--spaces"});
  RecordedSpaces read;
  std::set<std::string> done;  // a compact pair is two files
  for (const std::string& name : list_folder(folder)) {
    const std::string path = absolute_path(folder + "/" + name);
    if (done.contains(path) || is_folder(path)) continue;
    if (!recording::is_recording(path) && !looks_like_one(name)) continue;
    auto recording = recording::read_recording(path);
    if (!recording) {
      read.left_out.push_back(recording.error().line());
      continue;
    }
    done.insert(recording->files.begin(), recording->files.end());
    if (auto space = replay_space(std::move(*recording))) {
      read.spaces.push_back(std::move(*space));
    } else {
      read.left_out.push_back(
          fmt::format("{}: every configuration failed: there is no optimum to reach", name));
    }
  }
  return read;
}

Result<std::string> find_prior(const std::string& file_or_run) {
  if (exists(file_or_run) && !is_folder(file_or_run)) return absolute_path(file_or_run);
  auto folder = tune::find_run(tune::runs_root(), file_or_run);
  if (!folder)
    return fail(ErrorCode::usage, fmt::format("{} is neither a recording nor a run", printable(file_or_run)),
                "name a file, or a run as tunesmith runs lists them", Place{"", 0, 0, "--prior"});
  return absolute_path(*folder);
}

Result<search::Prior> read_prior(const std::string& file_or_run, const space::Space& space) {
  TS_ASSIGN(const std::string path, find_prior(file_or_run));
  if (is_folder(path)) return prior_of_run(path, space);
  TS_ASSIGN(recording::Recording recording, recording::read_recording(path));
  const auto from = replay_space(std::move(recording));
  auto points = from ? search::transfer(*from, space) : std::nullopt;
  if (!points) return tl::unexpected<Error>(nothing_in_common(file_or_run));
  search::Prior prior;
  prior.sources.push_back(std::move(*points));
  return prior;
}

}  // namespace tunesmith::app
