// A prior as a function of any configuration: what its sources measured, and between the points they
// measured what a forest makes of them.
#pragma once

#include <unordered_map>
#include <vector>

#include "search/config_set.h"
#include "search/features.h"
#include "search/forest.h"
#include "search/strategy.h"

namespace tunesmith::search {

class PriorModel {
 public:
  PriorModel(const space::Space& space, const Prior& prior, std::uint64_t seed);
  [[nodiscard]] std::size_t sources() const { return m_sources.size(); }
  /// How much slower than its best each source holds a configuration to be, as a difference of objectives:
  /// 0 is its best. A failure counts as the slower end of what was valid there.
  [[nodiscard]] std::vector<float> expected(const space::Config& config) const;
  /// What lies between best and middle, over the sources; above 0.
  [[nodiscard]] double middle() const { return m_middle; }
  /// Points that some source measured, the best mean first; at most `limit`.
  [[nodiscard]] std::vector<space::Config> best(std::size_t limit) const;

 private:
  struct Source {
    std::unordered_map<space::Config, float, ConfigHash> known;
    Forest forest;
  };
  space::Space m_space;
  Features m_features;
  std::vector<Source> m_sources;
  double m_middle = 1;
};

/// Spearman's rank correlation; 0 where one side is constant. The sizes agree.
[[nodiscard]] double rank_agreement(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace tunesmith::search
