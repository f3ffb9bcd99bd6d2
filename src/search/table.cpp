#include <fmt/format.h>

#include "base/text.h"
#include "search/strategies.h"

namespace tunesmith::search {

const std::vector<StrategyInfo>& strategy_table() {
  static const std::vector<StrategyInfo> table = {
      {"auto",
       "a Gaussian process proposes what promises the largest improvement, after a few points far apart",
       make_auto, make_auto_with_prior},
      {"surrogate",
       "space-filling start, then a forest of trees proposes, with local steps and some random points",
       make_surrogate},
      {"random", "legal configurations in random order, each once", make_random},
      {"latin", "every value of every parameter as evenly as the constraints allow", make_latin},
      {"greedy", "climbs to the first better neighbour, again and again from random points", make_greedy},
      {"iterated", "climbs, then kicks the best point a few steps away and climbs again", make_iterated},
      {"annealing", "random steps, uphill ever more seldom as the budget is used up", make_annealing},
      {"tabu", "moves to the best of some new neighbours, even uphill", make_tabu},
      {"genetic", "crosses and mutates the best points along legal ones", make_genetic},
      {"differential", "moves points by differences between others", make_differential},
      {"swarm", "points that drift towards their own best and the best of all", make_swarm},
      {"bandit", "gives each proposal to the strategy that found new bests lately", make_bandit},
      {"exhaustive", "every legal configuration in order", make_exhaustive},
  };
  return table;
}

Result<std::unique_ptr<Strategy>> make_strategy(std::string_view name, const space::Space& space,
                                                std::uint64_t seed, const Budget& budget,
                                                const Prior& prior) {
  std::vector<std::string> known;
  for (const StrategyInfo& info : strategy_table()) {
    if (info.name == name) {
      if (prior.empty()) return info.make(space, seed, budget);
      if (info.make_with_prior != nullptr) return info.make_with_prior(space, seed, budget, prior);
      return with_prior(info.make(space, seed, budget), space, seed, budget, prior);
    }
    known.emplace_back(info.name);
  }
  const std::string suggestion = nearest(name, known);
  return fail(ErrorCode::usage, fmt::format("unknown strategy '{}'", printable(name)),
              suggestion.empty() ? "known strategies: " + join(known, ", ")
                                 : fmt::format("did you mean '{}'?", suggestion));
}

}  // namespace tunesmith::search
