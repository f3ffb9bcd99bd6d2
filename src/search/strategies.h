// The makers of all strategies; table.cpp lists them. One file a strategy.
#pragma once

#include "search/strategy.h"

namespace tunesmith::search {

[[nodiscard]] std::unique_ptr<Strategy> make_auto(const space::Space& space, std::uint64_t seed,
                                                  const Budget& budget);
[[nodiscard]] std::unique_ptr<Strategy> make_auto_with_prior(const space::Space& space, std::uint64_t seed,
                                                             const Budget& budget, const Prior& prior);
[[nodiscard]] std::unique_ptr<Strategy> make_surrogate(const space::Space& space, std::uint64_t seed,
                                                       const Budget& budget);
[[nodiscard]] std::unique_ptr<Strategy> make_random(const space::Space& space, std::uint64_t seed,
                                                    const Budget& budget);
[[nodiscard]] std::unique_ptr<Strategy> make_exhaustive(const space::Space& space, std::uint64_t seed,
                                                        const Budget& budget);
[[nodiscard]] std::unique_ptr<Strategy> make_latin(const space::Space& space, std::uint64_t seed,
                                                   const Budget& budget);
[[nodiscard]] std::unique_ptr<Strategy> make_greedy(const space::Space& space, std::uint64_t seed,
                                                    const Budget& budget);
[[nodiscard]] std::unique_ptr<Strategy> make_iterated(const space::Space& space, std::uint64_t seed,
                                                      const Budget& budget);
[[nodiscard]] std::unique_ptr<Strategy> make_annealing(const space::Space& space, std::uint64_t seed,
                                                       const Budget& budget);
[[nodiscard]] std::unique_ptr<Strategy> make_tabu(const space::Space& space, std::uint64_t seed,
                                                  const Budget& budget);
[[nodiscard]] std::unique_ptr<Strategy> make_genetic(const space::Space& space, std::uint64_t seed,
                                                     const Budget& budget);
[[nodiscard]] std::unique_ptr<Strategy> make_differential(const space::Space& space, std::uint64_t seed,
                                                          const Budget& budget);
[[nodiscard]] std::unique_ptr<Strategy> make_swarm(const space::Space& space, std::uint64_t seed,
                                                   const Budget& budget);
[[nodiscard]] std::unique_ptr<Strategy> make_bandit(const space::Space& space, std::uint64_t seed,
                                                    const Budget& budget);

/// `strategy` after the best points of a prior.
[[nodiscard]] std::unique_ptr<Strategy> with_prior(std::unique_ptr<Strategy> strategy,
                                                   const space::Space& space, std::uint64_t seed,
                                                   const Budget& budget, const Prior& prior);

}  // namespace tunesmith::search
