// Settings of the default strategy. Their values were chosen by leave-one-kernel-out over recorded spaces
// (benchmarks/search_loko.cpp, docs/search.md); the code knows no kernel, device or parameter name.
#pragma once

#include <memory>

#include "search/gaussian.h"
#include "search/metric.h"
#include "search/strategy.h"

namespace tunesmith::search {

struct AutoSettings {
  MetricSettings metric;
  GaussianSettings model;
  std::size_t start = 6;         ///< spread-out points before the model
  double start_share = 0.4;      ///< of a budget, at most
  std::size_t start_tries = 24;  ///< random points of which the farthest is taken
  /// Targets are divided by what lies between the best and this quantile; beyond it the log counts, times
  /// `tail`: how bad the bad ones are says little about the best.
  double scale_quantile = 0.5;
  double tail = 0.3;
  double failure_quantile = 0.75;  ///< the target of a failure, among the valid
  double growth = 1.2;             ///< relearns when there are this many times the results
  std::size_t pool = 2000;         ///< random points looked at; a smaller space is looked at as a whole
  std::size_t keep = 300;          ///< the best of the old pool stay
  std::size_t elites = 4;          ///< whose neighbours are looked at
  std::size_t climbs = 2;          ///< steps from the most promising point to its neighbours
  double margin = 0;               ///< an improvement counts from this share of the signal on
  /// The chance of being valid: a vote of all results, exp(-sharpness x squared distance) each, against an
  /// optimist's 0.9 with this weight.
  double validity_weight = 0.3;
  double validity_sharpness = 3;
};

[[nodiscard]] std::unique_ptr<Strategy> make_auto_with(const space::Space& space, std::uint64_t seed,
                                                       const Budget& budget, const Prior& prior,
                                                       const AutoSettings& settings);

}  // namespace tunesmith::search
