#include "tune/runs.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <set>

#include "base/clock.h"
#include "base/file.h"
#include "base/random.h"
#include "base/text.h"
#include "tune/opening_json.h"

namespace tunesmith::tune {

namespace {

bool is_run(const std::string& folder) { return exists(folder + "/journal.sqlite"); }

std::string link_target(const std::string& link) {
  std::string target(4096, '\0');
  const ssize_t size = readlink(link.c_str(), target.data(), target.size());
  if (size <= 0) return {};
  target.resize(static_cast<std::size_t>(size));
  return target;
}

/// For names of files: what a case may be called, a path may not.
std::string file_name_of(const std::string& name) {
  std::string out;
  for (const char c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
    out += plain ? c : '_';
  }
  if (out.empty() || out.front() == '.') out.insert(0, "_");
  return out;
}

/// Runs that `latest` or a <case>_latest.json point at.
std::set<std::string> pointed_at(const std::string& root) {
  std::set<std::string> runs;
  for (const std::string& name : list_folder(root)) {
    const std::string target = link_target(root + "/" + name);
    if (target.empty()) continue;
    runs.insert(std::string(split(target, '/').front()));
  }
  return runs;
}

double age_days(const std::string& folder) {
  struct stat info {};
  if (stat((folder + "/journal.sqlite").c_str(), &info) != 0) return 0;
  return std::difftime(std::time(nullptr), info.st_mtime) / 86400;
}

}  // namespace

std::string runs_root() {
  const char* root = std::getenv("TUNESMITH_RUNS");
  return root != nullptr && *root != '\0' ? root : "runs";
}

Result<std::string> new_run_folder(const std::string& root, const std::string& case_name) {
  TS_TRY(make_folders(root, 0700));
  for (int attempt = 0; attempt < 100; ++attempt) {
    const std::string folder =
        fmt::format("{}/{}-{}-{:04x}", root, file_name_of(case_name), utc_compact(), secret_seed() & 0xFFFF);
    if (mkdir(folder.c_str(), 0700) == 0) return folder;
    if (errno != EEXIST) {
      const int number = errno;
      return fail(ErrorCode::io, fmt::format("cannot make the run's folder: {}", errno_text(number)),
                  number == ENOSPC ? "free some disk space and run it again" : "", Place{folder, 0, 0, {}});
    }
  }
  return fail(ErrorCode::io, "cannot find a free name for the run", "", Place{root, 0, 0, {}});
}

Result<std::string> find_run(const std::string& root, const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (is_run(name)) return name;
    return fail(ErrorCode::unreadable, "is no run: there is no journal in it", "`runs` lists the runs",
                Place{name, 0, 0, {}});
  }
  const std::string direct = root + "/" + (name.empty() ? "latest" : name);
  if (name.empty() || name == "latest") {
    const std::string target = link_target(direct);
    if (target.empty() || !is_run(direct)) {
      return fail(ErrorCode::unreadable, "there is no latest run", "start one with `tune`",
                  Place{root, 0, 0, {}});
    }
    return target.front() == '/' ? target : root + "/" + target;
  }
  if (is_run(direct)) return direct;
  std::vector<std::string> matches;
  std::vector<std::string> names;
  for (const std::string& folder : list_runs(root)) {
    names.push_back(base_name(folder));
    if (names.back().starts_with(name)) matches.push_back(folder);
  }
  if (matches.size() == 1) return matches.front();
  if (matches.size() > 1) {
    return fail(ErrorCode::usage, fmt::format("\"{}\" fits {} runs", printable(name), matches.size()),
                fmt::format("write more of the name, e.g. {}", base_name(matches.back())));
  }
  if (is_run(name)) return name;
  const std::string near = nearest(name, names);
  return fail(ErrorCode::unreadable, fmt::format("there is no run \"{}\" under {}", printable(name), root),
              near.empty() ? "`runs` lists the runs" : fmt::format("did you mean {}?", near));
}

std::vector<std::string> list_runs(const std::string& root) {
  std::vector<std::pair<std::string, std::string>> dated;
  for (const std::string& name : list_folder(root)) {
    const std::string folder = root + "/" + name;
    if (!link_target(folder).empty() || !is_run(folder)) continue;
    const auto journal = Journal::read_only(folder);
    // A torn one is still listed; nobody finds what is hidden.
    dated.emplace_back(journal ? journal->header().started_utc : std::string(), folder);
  }
  std::sort(dated.begin(), dated.end());
  std::vector<std::string> folders;
  for (auto& [utc, folder] : dated) folders.push_back(std::move(folder));
  return folders;
}

std::vector<Trial> top_trials(const std::vector<Trial>& trials, bool by_formula, std::size_t count) {
  const auto value = [&](const Trial& t) {
    return by_formula ? t.decision.objective : t.evidence.log_ratio_to_baseline;
  };
  std::vector<Trial> top;
  for (const Trial& trial : trials) {
    const judge::Decision& d = trial.decision;
    if (!trial.ended || !d.valid || d.reason == Reason::duplicate || !d.failures.empty()) continue;
    if (d.verdict == judge::Verdict::impossible || d.verdict == judge::Verdict::rejected) continue;
    if (!std::isfinite(value(trial))) continue;
    top.push_back(trial);
  }
  std::stable_sort(top.begin(), top.end(),
                   [&](const Trial& a, const Trial& b) { return value(a) < value(b); });
  if (top.size() > count) top.resize(count);
  return top;
}

Status write_result(const std::string& path, const json::object& result) {
  const std::string text = print_json(result);
  if (exists(path)) {
    const auto before = read_file(path);
    if (before && *before == text) return {};
    const Place place{path, 0, 0, {}};
    const char* mend = "give another --out, or move the old file away";
    const auto old =
        before ? parse_json(*before, path) : Result<json::value>(fail(ErrorCode::unreadable, "torn"));
    if (!old || !old->is_object())
      return fail(ErrorCode::conflict, "is there already and is no result", mend, place);
    const json::value* run = old->get_object().if_contains("run");
    const json::value* own = result.if_contains("run");
    if (run != nullptr && (own == nullptr || *run != *own))
      return fail(ErrorCode::conflict, "is the result of another run", mend, place);
    if (old->get_object().contains("seal"))
      return fail(ErrorCode::conflict, "is a sealed result", mend, place);
  }
  return write_file_atomic(path, text);
}

Status publish(const std::string& root, const Case& c, const Journal& journal, const Trial& trial) {
  std::optional<bench::Opening> opening;
  for (const auto& [kind, detail] : journal.events()) {
    if (kind != "opening") continue;
    TS_ASSIGN(const Node node, Node::parse(print_json_compact(detail), journal.folder()));
    TS_ASSIGN(opening, opening_from_json(node));
  }
  const std::string text = print_json(result_json(c, journal.header(), trial, opening ? &*opening : nullptr));
  const std::string folder = journal.folder();
  TS_TRY(make_folders(folder + "/results", 0700));
  TS_TRY(write_file_atomic(fmt::format("{}/results/{}.json", folder, trial.id), text));
  TS_TRY(write_file_atomic(folder + "/result.json", text));
  const std::string run = base_name(folder);
  // A run elsewhere than under the root is published in its own folder alone.
  if (absolute_path(folder) != absolute_path(root + "/" + run)) return {};
  TS_TRY(point_symlink(root + "/latest", run));
  return point_symlink(root + "/" + file_name_of(c.name) + "_latest.json", run + "/result.json");
}

Result<Pruned> prune(const std::string& root, std::optional<std::size_t> keep,
                     std::optional<double> older_than_days, bool dry_run) {
  Pruned out;
  if (!keep && !older_than_days) {
    return fail(ErrorCode::usage, "prune needs to know what may go",
                "give a number of runs to keep, an age, or both");
  }
  const std::vector<std::string> runs = list_runs(root);
  const std::set<std::string> pointed = pointed_at(root);
  const std::size_t spared = keep ? std::min(*keep, runs.size()) : 0;
  for (std::size_t i = 0; i + spared < runs.size(); ++i) {
    if (older_than_days && age_days(runs[i]) < *older_than_days) continue;
    if (pointed.contains(base_name(runs[i])) || run_in_use(runs[i])) {
      out.kept.push_back(runs[i]);
      continue;
    }
    if (!dry_run) TS_TRY(remove_tree(runs[i]));
    out.removed.push_back(runs[i]);
  }
  return out;
}

}  // namespace tunesmith::tune
