// Chooses the settings of the default strategy by leave-one-kernel-out, and tells what that is worth:
//   search_loko FOLDER [SEEDS [THREADS]]
// FOLDER holds recordings of several kernels (of each from any number of devices). For each kernel, the
// candidate that is best on all OTHER kernels is named, with what it yields on the kernel left out, beside
// what the shipped settings yield there. When the two agree to within the noise for every kernel, the
// shipped settings owe nothing to having seen a kernel.
// A candidate's figure is the mean over kernels, spaces, budgets and seeds of log(best / optimum), at most
// log 10: means of logs carry less noise than medians.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>

#include "base/file.h"
#include "recording/recording.h"
#include "search/auto.h"
#include "search/compare.h"

namespace {

using namespace tunesmith;

struct Candidate {
  std::string name;
  search::AutoSettings settings;
};

/// The shipped settings, and each with one value changed.
std::vector<Candidate> candidates() {
  std::vector<Candidate> list = {{"shipped", {}}};
  const auto add = [&](const std::string& name, const auto& change) {
    Candidate candidate{name, {}};
    change(candidate.settings);
    list.push_back(std::move(candidate));
  };
  using Settings = search::AutoSettings;
  for (const std::size_t start : {4U, 10U})
    add(fmt::format("start {}", start), [=](Settings& s) { s.start = start; });
  for (const double length : {0.4, 1.0})
    add(fmt::format("length {}", length), [=](Settings& s) { s.model.length = length; });
  for (const double spread : {1.0, 2.2})
    add(fmt::format("length spread {}", spread), [=](Settings& s) { s.model.length_spread = spread; });
  add("matern 3/2", [](Settings& s) { s.model.smoothness = search::Smoothness::matern32; });
  for (const double jump : {0.0, 0.1})
    add(fmt::format("jump {}", jump), [=](Settings& s) { s.metric.jump = jump; });
  for (const double alignment : {0.0, 0.3})
    add(fmt::format("alignment {}", alignment), [=](Settings& s) { s.metric.alignment = alignment; });
  for (const double rank : {0.0, 1.0})
    add(fmt::format("rank {}", rank), [=](Settings& s) { s.metric.rank = rank; });
  for (const double tail : {0.1, 1.0}) add(fmt::format("tail {}", tail), [=](Settings& s) { s.tail = tail; });
  add("scale quantile 0.3", [](Settings& s) { s.scale_quantile = 0.3; });
  add("margin 0.05", [](Settings& s) { s.margin = 0.05; });
  return list;
}

/// Kernels with other parameters are other kernels, whatever their name.
std::string kernel_of(const search::ReplaySpace& space) {
  std::string key = space.kernel;
  for (const space::Parameter& parameter : space.space.parameters()) key += " " + parameter.name;
  return key;
}

double log_ratio(const search::Standing& standing, std::size_t space) {
  double sum = 0;
  double count = 0;
  for (const search::Cell& cell : standing.cells[space]) {
    for (const double ratio : cell.ratios) {
      sum += std::log(std::min(ratio, 10.0));
      ++count;
    }
  }
  return sum / count;
}

std::string medians(const search::Standing& standing, const std::vector<std::size_t>& spaces) {
  std::string text;
  for (std::size_t b = 0; b < standing.summary.size(); ++b) {
    double sum = 0;
    for (const std::size_t s : spaces)
      sum += std::log(std::min(standing.cells[s][b].median, 100.0)) / static_cast<double>(spaces.size());
    text += fmt::format(" {:7.4f}", std::exp(sum));
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: search_loko FOLDER [SEEDS [THREADS]]\n");
    return 2;
  }
  std::vector<search::ReplaySpace> spaces;
  std::set<std::string> done;
  const std::string folder = argv[1];
  for (const std::string& name : list_folder(folder)) {
    const std::string path = absolute_path(folder + "/" + name);
    if (done.contains(path) || !recording::is_recording(path)) continue;
    auto recording = recording::read_recording(path);
    if (!recording) {
      fmt::print(stderr, "{}\n", recording.error().line());
      continue;
    }
    done.insert(recording->files.begin(), recording->files.end());
    std::vector<double> cost;
    for (const recording::Entry& entry : recording->entries) cost.push_back(recording->cost_of(entry));
    auto space = search::ReplaySpace::create(recording->name, recording->space, std::move(cost));
    if (!space) continue;
    space->kernel = recording->kernel;
    spaces.push_back(std::move(*space));
  }
  std::map<std::string, std::vector<std::size_t>> kernels;
  for (std::size_t s = 0; s < spaces.size(); ++s) kernels[kernel_of(spaces[s])].push_back(s);
  if (kernels.size() < 2) {
    fmt::print(stderr, "leaving one kernel out needs recordings of at least two\n");
    return 2;
  }
  const std::vector<Candidate> list = candidates();
  search::ComparePlan plan;
  plan.budgets = {25, 50, 100};  // at 200 every candidate is at the optimum
  plan.seeds = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10;
  plan.threads = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
  if (plan.seeds == 0 || plan.threads == 0) {
    fmt::print(stderr, "SEEDS and THREADS are at least 1\n");
    return 2;
  }
  std::vector<search::Standing> standings;
  std::vector<std::map<std::string, double>> by_kernel;
  for (const Candidate& candidate : list) {
    const search::Contestant contestant{
        candidate.name, [&](const space::Space& space, std::uint64_t seed, const search::Budget& budget,
                            const search::Prior& prior) {
          return search::make_auto_with(space, seed, budget, prior, candidate.settings);
        }};
    standings.push_back(std::move(search::compare(spaces, {contestant}, plan).standings.front()));
    std::map<std::string, double> means;
    std::string text;
    double all = 0;
    for (const auto& [kernel, members] : kernels) {
      for (const std::size_t s : members)
        means[kernel] += log_ratio(standings.back(), s) / static_cast<double>(members.size());
      text += fmt::format(" {:7.4f}", means[kernel]);
      all += means[kernel] / static_cast<double>(kernels.size());
    }
    by_kernel.push_back(std::move(means));
    fmt::print("{:22} mean log ratio {:7.4f}, by kernel{}, {:.2f} ms\n", candidate.name, all, text,
               standings.back().ms_per_ask);
    std::fflush(stdout);
  }
  fmt::print("\nleft out; chosen on the others; geometric mean of medians there at 25, 50, 100\n");
  for (const auto& [kernel, members] : kernels) {
    std::size_t chosen = 0;
    double least = INFINITY;
    for (std::size_t c = 0; c < list.size(); ++c) {
      double sum = 0;
      for (const auto& [other, mean] : by_kernel[c])
        if (other != kernel) sum += mean;
      if (sum >= least) continue;
      least = sum;
      chosen = c;
    }
    fmt::print("{} ({} spaces)\n  {:22}{}\n  {:22}{}\n", spaces[members.front()].name, members.size(),
               list[chosen].name, medians(standings[chosen], members), "shipped",
               medians(standings.front(), members));
  }
  return 0;
}
