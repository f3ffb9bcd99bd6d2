// Small steps between legal configurations, for every strategy alike. Each step asks the space whether the
// changed point is legal before it is taken; nothing is repaired afterwards. Parameters with very many values
// are sampled, so that a step stays cheap.
#pragma once

#include <optional>
#include <vector>

#include "base/random.h"
#include "space/space.h"

namespace tunesmith::search {

/// Legal configurations that differ in exactly one parameter, parameter by parameter; of each parameter at
/// most k_values other values, drawn at random where it has more.
constexpr std::size_t k_values = 64;
[[nodiscard]] std::vector<space::Config> one_changed(const space::Space& space, const space::Config& config,
                                                     Rng& rng);
/// A random legal configuration one change away; nullopt where there is none.
[[nodiscard]] std::optional<space::Config> random_step(const space::Space& space, const space::Config& config,
                                                       Rng& rng);
/// Up to `steps` random steps, one after another.
[[nodiscard]] space::Config random_walk(const space::Space& space, space::Config config, std::size_t steps,
                                        Rng& rng);
/// Sets one parameter; false, and nothing changed, when that is not legal.
bool try_set(const space::Space& space, space::Config& config, std::size_t parameter, std::uint32_t value);
/// Goes from `from` towards `to`, parameter by parameter in random order, each with `chance`; changes that
/// are not legal at their turn are left out. Ends at a legal point.
[[nodiscard]] space::Config towards(const space::Space& space, space::Config from, const space::Config& to,
                                    double chance, Rng& rng);
/// Of `tries` random legal points the one whose values were used least often, value by value: a latin
/// hypercube under constraints. `used[p][v]` counts; the caller adds what it takes (count_use).
using Uses = std::vector<std::vector<std::uint32_t>>;
[[nodiscard]] Uses no_uses(const space::Space& space);
void count_use(Uses& used, const space::Config& config);
[[nodiscard]] space::Config least_used(const space::Space& space, const Uses& used, std::size_t tries,
                                       Rng& rng);

}  // namespace tunesmith::search
