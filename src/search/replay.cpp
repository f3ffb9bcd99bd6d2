#include "search/replay.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>

namespace tunesmith::search {

namespace {

/// CPU time of this thread: the machine may be busy with other things.
double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// For each parameter of `to`: its place in `from`, and there the value of `to` for each value of `from`.
struct Match {
  std::optional<std::size_t> place;
  std::vector<std::optional<std::uint32_t>> value;
};

std::optional<std::vector<Match>> match(const space::Space& from, const space::Space& to) {
  for (const space::Parameter& parameter : from.parameters())
    if (parameter.values.size() > 1 && !to.parameter_index(parameter.name)) return std::nullopt;
  std::vector<Match> matches;
  for (const space::Parameter& parameter : to.parameters()) {
    Match found{from.parameter_index(parameter.name), {}};
    if (!found.place) {
      if (parameter.values.size() > 1) return std::nullopt;
    } else {
      for (const space::Value& theirs : from.parameters()[*found.place].values) {
        std::optional<std::uint32_t> at;
        for (std::uint32_t v = 0; v < parameter.values.size() && !at; ++v)
          if (space::equal(parameter.values[v], theirs)) at = v;
        found.value.push_back(at);
      }
    }
    matches.push_back(std::move(found));
  }
  return matches;
}

}  // namespace

std::optional<ReplaySpace> ReplaySpace::create(std::string name, space::Space space,
                                               std::vector<double> cost) {
  ReplaySpace made;
  made.name = std::move(name);
  made.space = std::move(space);
  for (const double value : cost)
    if (std::isfinite(value) && value > 0) made.valid.push_back(value);
  if (made.valid.empty() || cost.size() != made.space.count()) return std::nullopt;
  std::sort(made.valid.begin(), made.valid.end());
  made.optimum = made.valid.front();
  made.cost = std::move(cost);
  return made;
}

ReplayRun replay(const ReplaySpace& space, Strategy& strategy, std::uint64_t budget) {
  ReplayRun run;
  double best = std::numeric_limits<double>::infinity();
  while (run.best.size() < budget) {
    const double begin = cpu_ms();
    const std::vector<space::Config> asked = strategy.ask(1);
    run.cpu_ms += cpu_ms() - begin;
    if (asked.empty()) break;
    const double cost = space.cost[*space.space.index_of(asked[0])];
    const bool valid = std::isfinite(cost) && cost > 0;
    if (valid && cost < best) {
      best = cost;
      run.winner = asked[0];
    }
    run.best.push_back(best);
    const double told = cpu_ms();
    strategy.tell({asked[0], valid, valid ? std::log(cost) : 0});
    run.cpu_ms += cpu_ms() - told;
  }
  return run;
}

RandomSearch random_search(const ReplaySpace& space, std::uint64_t evaluations) {
  const auto total = static_cast<double>(space.cost.size());
  const double drawn = std::min(static_cast<double>(evaluations), total);
  RandomSearch result{0, space.valid.back()};
  // Chance that none of the best k is among the drawn: the product of (total - drawn - i) / (total - i).
  double none = 1;
  bool halved = false;
  for (std::size_t k = 0; k < space.valid.size(); ++k) {
    const auto i = static_cast<double>(k);
    const double after = drawn + i >= total ? 0 : none * (total - drawn - i) / (total - i);
    result.mean += (none - after) * space.valid[k];
    if (!halved && after <= 0.5) {
      result.median = space.valid[k];
      halved = true;
    }
    none = after;
    if (none < 1e-16) break;
  }
  result.mean += none * space.valid.back();
  return result;
}

std::optional<std::vector<PriorPoint>> transfer(const ReplaySpace& from, const space::Space& to) {
  const auto matches = match(from.space, to);
  if (!matches) return std::nullopt;
  std::vector<PriorPoint> points;
  for (std::uint64_t i = 0; i < from.cost.size(); ++i) {
    const space::Config theirs = from.space.at(i);
    space::Config config;
    for (const Match& found : *matches) {
      const auto value = found.place ? found.value[theirs.at[*found.place]] : std::optional<std::uint32_t>(0);
      if (!value) break;
      config.at.push_back(*value);
    }
    if (config.at.size() != matches->size() || !to.legal(config)) continue;
    const bool valid = std::isfinite(from.cost[i]) && from.cost[i] > 0;
    points.push_back({std::move(config), valid, valid ? std::log(from.cost[i]) : 0});
  }
  if (points.empty()) return std::nullopt;
  return points;
}

Prior prior_from_others(const std::vector<ReplaySpace>& spaces, std::size_t to) {
  Prior prior;
  for (std::size_t s = 0; s < spaces.size(); ++s) {
    if (s == to || spaces[s].kernel != spaces[to].kernel || spaces[s].device == spaces[to].device) continue;
    if (auto points = transfer(spaces[s], spaces[to].space)) prior.sources.push_back(std::move(*points));
  }
  return prior;
}

}  // namespace tunesmith::search
