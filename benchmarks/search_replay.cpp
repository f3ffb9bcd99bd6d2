// Replays recorded, exhaustive GPU spaces and prints how far each strategy gets: best / optimum after 25, 50,
// 100 and 200 evaluations, and the evaluations until within 5 % of the optimum; medians over seeds.
//   search_replay FOLDER [SEEDS [STRATEGY…]]
// FOLDER holds NAME.json (parameters, constraints, optimum_ms) and NAME.csv.gz (parameters, status, time_ms).
// A failed configuration costs one evaluation. gzip unpacks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <unordered_map>

#include "base/file.h"
#include "base/text.h"
#include "search/config_set.h"
#include "search/strategy.h"

namespace {

using namespace tunesmith;

struct Recording {
  std::string name;
  space::Space space;
  std::unordered_map<space::Config, double, search::ConfigHash> time_ms;  ///< negative: failed
  double optimum = 0;
};

constexpr std::array<std::size_t, 4> k_budgets = {25, 50, 100, 200};

Result<std::string> unpack(const std::string& path) {
  std::FILE* pipe = popen(fmt::format("gzip -dc '{}'", path).c_str(), "r");
  if (pipe == nullptr) return fail(ErrorCode::unavailable, "cannot start gzip");
  std::string text;
  std::array<char, 65536> buffer{};
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe))
    text.append(buffer.data(), n);
  if (pclose(pipe) != 0) return fail(ErrorCode::unreadable, "gzip could not unpack it", "", {path, 0, 0, ""});
  return text;
}

Result<Recording> load(const std::string& folder, const std::string& name) {
  TS_ASSIGN(const Node node, Node::read(folder + "/" + name + ".json"));
  Recording recording;
  recording.name = name;
  std::vector<space::Parameter> parameters;
  TS_ASSIGN(const Node list, node.get("parameters"));
  TS_ASSIGN(const auto members, list.members());
  for (const auto& [key, values] : members) {
    space::Parameter parameter{key, {}};
    TS_ASSIGN(const auto items, values.items());
    for (const Node& item : items) {
      TS_ASSIGN(space::Value value, space::value_from_json(item));
      parameter.values.push_back(std::move(value));
    }
    parameters.push_back(std::move(parameter));
  }
  std::vector<space::Space::Constraint> constraints;
  TS_ASSIGN(const Node rules, node.get("constraints"));
  TS_ASSIGN(const auto texts, rules.items());
  for (const Node& item : texts) {
    TS_ASSIGN(std::string text, item.as_string());
    constraints.push_back({std::move(text), item.place()});
  }
  TS_ASSIGN(recording.space, space::Space::create(std::move(parameters), std::move(constraints)));
  TS_ASSIGN(const std::string csv, unpack(folder + "/" + name + ".csv.gz"));
  const auto lines = split_lines(csv);
  const auto header = split(lines.at(0), ',');
  std::vector<std::size_t> slot;  // of each column; parameters() for status and time
  for (const std::string_view column : header)
    slot.push_back(recording.space.parameter_index(column).value_or(99999));
  recording.optimum = 1e300;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    const auto fields = split(lines[i], ',');
    space::Config config;
    config.at.assign(recording.space.parameters().size(), 0);
    double time = -1;
    for (std::size_t c = 0; c < fields.size(); ++c) {
      if (header[c] == "time_ms" && !fields[c].empty()) time = std::stod(std::string(fields[c]));
      if (slot[c] == 99999) continue;
      const auto& values = recording.space.parameters()[slot[c]].values;
      const double wanted = std::stod(std::string(fields[c]));
      for (std::uint32_t v = 0; v < values.size(); ++v)
        if (space::number_of(values[v]).value_or(NAN) == wanted) config.at[slot[c]] = v;
    }
    if (time > 0) recording.optimum = std::min(recording.optimum, time);
    recording.time_ms[config] = time;
  }
  return recording;
}

/// CPU time of this process: the machine may be busy with other things.
std::int64_t cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

template <class T>
T median(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Row {
  std::array<double, k_budgets.size()> ratio{};
  std::size_t within = 0;
  double ms = 0;
};

Row replay(const Recording& recording, const std::string& strategy, int seeds) {
  std::array<std::vector<double>, k_budgets.size()> ratios;
  std::vector<std::size_t> within;
  std::int64_t spent = 0;
  std::int64_t steps = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    auto search = search::make_strategy(strategy, recording.space, static_cast<std::uint64_t>(seed),
                                        {k_budgets.back()});
    double best = 1e300;
    std::size_t reached = 0;
    for (std::size_t i = 1; i <= 3000 && (reached == 0 || i <= k_budgets.back()); ++i) {
      const std::int64_t begin = cpu_ns();
      const auto asked = (*search)->ask(1);
      if (i <= k_budgets.back()) spent += cpu_ns() - begin;
      if (asked.empty()) break;
      steps += i <= k_budgets.back() ? 1 : 0;
      const double time = recording.time_ms.at(asked[0]);
      if (time > 0) best = std::min(best, time);
      (*search)->tell({asked[0], time > 0, time > 0 ? std::log(time) : 0});
      for (std::size_t b = 0; b < k_budgets.size(); ++b)
        if (i == k_budgets[b]) ratios[b].push_back(best / recording.optimum);
      if (reached == 0 && best <= 1.05 * recording.optimum) reached = i;
      if (i >= k_budgets.back() && strategy != "random" && i >= 400) break;
    }
    within.push_back(reached == 0 ? 99999 : reached);
  }
  Row row;
  for (std::size_t b = 0; b < k_budgets.size(); ++b) row.ratio[b] = ratios[b].empty() ? 1 : median(ratios[b]);
  row.within = median(within);
  row.ms = static_cast<double>(spent) / 1e6 / static_cast<double>(std::max<std::int64_t>(1, steps));
  return row;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: search_replay FOLDER [SEEDS [STRATEGY…]]\n");
    return 2;
  }
  const std::string folder = argv[1];
  const int seeds = argc > 2 ? std::max(1, std::atoi(argv[2])) : 20;
  std::vector<std::string> strategies(argv + std::min(argc, 3), argv + argc);
  if (strategies.empty()) strategies = {"random", "auto"};
  std::vector<Row> means(strategies.size());
  std::vector<double> reach(strategies.size(), 0);
  double spaces = 0;
  fmt::print("{:26} {:10} {:>7} {:>7} {:>7} {:>7} {:>9} {:>8}\n", "space", "strategy", "25", "50", "100",
             "200", "to 5 %", "ms/ask");
  for (const std::string& file : list_folder(folder)) {
    if (!file.ends_with(".json") || file.starts_with("suspect_")) continue;
    auto recording = load(folder, file.substr(0, file.size() - 5));
    if (!recording) {
      fmt::print(stderr, "{}\n", recording.error().line());
      return 2;
    }
    spaces += 1;
    for (std::size_t s = 0; s < strategies.size(); ++s) {
      const Row row = replay(*recording, strategies[s], seeds);
      fmt::print("{:26} {:10} {:7.3f} {:7.3f} {:7.3f} {:7.3f} {:>9} {:8.2f}\n", recording->name,
                 strategies[s], row.ratio[0], row.ratio[1], row.ratio[2], row.ratio[3],
                 row.within == 99999 ? "never" : fmt::format("{}", row.within), row.ms);
      std::fflush(stdout);
      for (std::size_t b = 0; b < k_budgets.size(); ++b) means[s].ratio[b] += std::log(row.ratio[b]);
      means[s].ms += row.ms;
      reach[s] += std::log(static_cast<double>(std::min<std::size_t>(row.within, 3000)));
    }
  }
  for (std::size_t s = 0; s < strategies.size(); ++s)
    fmt::print("{:26} {:10} {:7.3f} {:7.3f} {:7.3f} {:7.3f} {:9.1f} {:8.2f}\n", "geometric mean",
               strategies[s], std::exp(means[s].ratio[0] / spaces), std::exp(means[s].ratio[1] / spaces),
               std::exp(means[s].ratio[2] / spaces), std::exp(means[s].ratio[3] / spaces),
               std::exp(reach[s] / spaces), means[s].ms / spaces);
  return 0;
}
