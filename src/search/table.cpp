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
