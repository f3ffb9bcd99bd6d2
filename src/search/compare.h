// Compares strategies over recorded spaces: the figures of `tunesmith compare-strategies`. Each budget is a
// search of its own, which knows that budget; nothing is read from a longer run.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "search/replay.h"

namespace tunesmith::search {

/// Makes the strategy to be compared; `prior` is empty unless one was given for that space.
using Maker = std::function<std::unique_ptr<Strategy>(const space::Space& space, std::uint64_t seed,
                                                      const Budget& budget, const Prior& prior)>;

struct Contestant {
  std::string name;
  Maker make;
};

struct ComparePlan {
  std::vector<std::uint64_t> budgets = {25, 50, 100, 200};  ///< ascending, at least one
  std::uint64_t seeds = 20;                                 ///< 1 to this many
  std::size_t threads = 1;
  std::vector<Prior> priors;  ///< one a space, or none
};

/// One strategy on one space with one budget. Ratios are lowest cost / optimum, infinite where nothing valid
/// was found.
struct Cell {
  std::vector<double> ratios;  ///< by seed
  double median = 0, mean = 0, low_quartile = 0, high_quartile = 0;
  double score = 0;   ///< (mean of random - mean) / (mean of random - optimum): 0 random, 1 optimum always
  double within = 0;  ///< share of seeds within 5 % of the optimum
  double ms_per_ask = 0;  ///< CPU time that the strategy took for itself, each evaluation
};

struct Standing {
  std::string name;
  std::vector<std::vector<Cell>> cells;  ///< [space][budget]
  std::vector<double> summary;           ///< by budget: geometric mean over spaces of the medians
  /// By budget: 95 % bootstrap interval of the summary, seeds drawn anew in each space.
  std::vector<std::array<double, 2>> interval;
  std::vector<double> score;  ///< by budget: mean over spaces
  double curve_score = 0;     ///< mean of the score over 1 .. the largest budget, and over spaces
  double ms_per_ask = 0;      ///< mean over spaces, largest budget
  std::vector<double> curve;  ///< geometric mean of medians after 1 .. the largest budget
};

struct Comparison {
  std::vector<Standing> standings;
  std::vector<std::vector<RandomSearch>> random;  ///< [space][budget], exact
  std::vector<double> random_summary;             ///< by budget: geometric mean of its medians / optima
  std::vector<double> random_curve;
};

[[nodiscard]] Comparison compare(const std::vector<ReplaySpace>& spaces,
                                 const std::vector<Contestant>& contestants, const ComparePlan& plan,
                                 const std::function<void(std::size_t done, std::size_t all)>& progress = {});

}  // namespace tunesmith::search
