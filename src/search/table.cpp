#include <fmt/format.h>

#include "base/text.h"
#include "search/strategies.h"

namespace tunesmith::search {

const std::vector<StrategyInfo>& strategy_table() {
  static const std::vector<StrategyInfo> table = {
      {"auto",
       "space-filling start, then a forest of trees proposes, with local steps and some random points",
       make_auto},
      {"random", "legal configurations in random order, each once", make_random},
      {"exhaustive", "every legal configuration in order", make_exhaustive},
  };
  return table;
}

Result<std::unique_ptr<Strategy>> make_strategy(std::string_view name, const space::Space& space,
                                                std::uint64_t seed, const Budget& budget) {
  std::vector<std::string> known;
  for (const StrategyInfo& info : strategy_table()) {
    if (info.name == name) return info.make(space, seed, budget);
    known.emplace_back(info.name);
  }
  const std::string suggestion = nearest(name, known);
  return fail(ErrorCode::usage, fmt::format("unknown strategy '{}'", printable(name)),
              suggestion.empty() ? "known strategies: " + join(known, ", ")
                                 : fmt::format("did you mean '{}'?", suggestion));
}

}  // namespace tunesmith::search
