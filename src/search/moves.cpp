#include "search/moves.h"

#include <algorithm>
#include <numeric>

namespace tunesmith::search {

namespace {

std::vector<std::size_t> shuffled_parameters(const space::Space& space, Rng& rng) {
  std::vector<std::size_t> order(space.parameters().size());
  std::iota(order.begin(), order.end(), 0U);
  rng.shuffle(order);
  return order;
}

/// Values of one parameter other than `but`, all or k_values drawn ones.
std::vector<std::uint32_t> other_values(std::size_t count, std::uint32_t but, Rng& rng) {
  std::vector<std::uint32_t> values;
  if (count <= k_values + 1) {
    for (std::uint32_t v = 0; v < count; ++v)
      if (v != but) values.push_back(v);
    return values;
  }
  // The next ones on both sides always: they are the likeliest improvements.
  if (but > 0) values.push_back(but - 1);
  if (but + 1 < count) values.push_back(but + 1);
  while (values.size() < k_values) {
    const auto v = static_cast<std::uint32_t>(rng.below(count));
    if (v != but) values.push_back(v);
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

}  // namespace

bool try_set(const space::Space& space, space::Config& config, std::size_t parameter, std::uint32_t value) {
  const std::uint32_t before = config.at[parameter];
  config.at[parameter] = value;
  if (space.legal(config)) return true;
  config.at[parameter] = before;
  return false;
}

std::vector<space::Config> one_changed(const space::Space& space, const space::Config& config, Rng& rng) {
  std::vector<space::Config> found;
  space::Config changed = config;
  for (std::size_t p = 0; p < space.parameters().size(); ++p) {
    for (const std::uint32_t value : other_values(space.parameters()[p].values.size(), config.at[p], rng)) {
      changed.at[p] = value;
      if (space.legal(changed)) found.push_back(changed);
    }
    changed.at[p] = config.at[p];
  }
  return found;
}

std::optional<space::Config> random_step(const space::Space& space, const space::Config& config, Rng& rng) {
  space::Config changed = config;
  for (const std::size_t p : shuffled_parameters(space, rng)) {
    auto values = other_values(space.parameters()[p].values.size(), config.at[p], rng);
    rng.shuffle(values);
    for (const std::uint32_t value : values)
      if (try_set(space, changed, p, value)) return changed;
  }
  return std::nullopt;
}

space::Config random_walk(const space::Space& space, space::Config config, std::size_t steps, Rng& rng) {
  for (std::size_t i = 0; i < steps; ++i) {
    auto next = random_step(space, config, rng);
    if (!next) break;
    config = std::move(*next);
  }
  return config;
}

space::Config towards(const space::Space& space, space::Config from, const space::Config& to, double chance,
                      Rng& rng) {
  for (const std::size_t p : shuffled_parameters(space, rng))
    if (from.at[p] != to.at[p] && rng.chance(chance)) try_set(space, from, p, to.at[p]);
  return from;
}

Uses no_uses(const space::Space& space) {
  Uses used;
  for (const space::Parameter& parameter : space.parameters()) used.emplace_back(parameter.values.size(), 0U);
  return used;
}

void count_use(Uses& used, const space::Config& config) {
  for (std::size_t p = 0; p < used.size(); ++p) ++used[p][config.at[p]];
}

space::Config least_used(const space::Space& space, const Uses& used, std::size_t tries, Rng& rng) {
  space::Config chosen = space.sample(rng);
  double least = 0;
  for (std::size_t i = 0; i < tries; ++i) {
    space::Config config = i == 0 ? chosen : space.sample(rng);
    double sum = 0;
    // Weighted by the number of values: of a switch each side is due every second time.
    for (std::size_t p = 0; p < used.size(); ++p)
      sum += static_cast<double>(used[p][config.at[p]]) * static_cast<double>(used[p].size());
    if (i > 0 && sum >= least) continue;
    least = sum;
    chosen = std::move(config);
  }
  return chosen;
}

}  // namespace tunesmith::search
