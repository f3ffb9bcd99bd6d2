// Strategies on spaces whose points are all known: how far each gets with a budget, beside random search
// calculated exactly. A strategy sees the space and its own history only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "search/strategy.h"

namespace tunesmith::search {

struct ReplaySpace {
  std::string name, kernel, device;
  space::Space space;
  std::vector<double> cost;   ///< by index; above 0, lower is better; NaN where it failed
  double optimum = 0;         ///< lowest cost
  std::vector<double> valid;  ///< the costs of what did not fail, ascending

  /// Nullopt when nothing is valid: there is no optimum to reach.
  [[nodiscard]] static std::optional<ReplaySpace> create(std::string name, space::Space space,
                                                         std::vector<double> cost);
};

struct ReplayRun {
  /// best[i] is the lowest cost after i + 1 unique legal evaluations, infinity before the first valid one.
  /// As many as the budget, or as the space has.
  std::vector<double> best;
  std::optional<space::Config> winner;  ///< never a failed one
  double cpu_ms = 0;                    ///< that the strategy took for itself
};

/// Asks one at a time until the budget or the strategy is used up.
[[nodiscard]] ReplayRun replay(const ReplaySpace& space, Strategy& strategy, std::uint64_t budget);

/// Random search without replacement after `evaluations` of a space: mean and median of the lowest cost,
/// hypergeometric. A draw without any valid point counts as the highest valid cost.
struct RandomSearch {
  double mean = 0, median = 0;
};
[[nodiscard]] RandomSearch random_search(const ReplaySpace& space, std::uint64_t evaluations);

/// What `from` measured as one source of a prior for `to`. Parameters are matched by name and value; nullopt
/// when one side has a choice that the other lacks, or no point is shared.
[[nodiscard]] std::optional<std::vector<PriorPoint>> transfer(const ReplaySpace& from,
                                                              const space::Space& to);
/// From all of `spaces` with the kernel of `spaces[to]` and another device.
[[nodiscard]] Prior prior_from_others(const std::vector<ReplaySpace>& spaces, std::size_t to);

}  // namespace tunesmith::search
