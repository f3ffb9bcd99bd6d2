// A strategy proposes configurations: ask for k, tell results in any order. It sees the space and the
// history, never a process, a clock or a model. Given the same seed and the same sequence of ask and tell it
// proposes the same: that is how a run resumes (the journal is replayed through it).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "space/space.h"

namespace tunesmith::search {

/// What came of one proposal.
struct Outcome {
  space::Config config;
  bool valid = false;  ///< built, ran, correct and measured; an invalid one has no objective
  double objective =
      0;  ///< lower is better, finite when valid (log of time relative to the baseline by default)
};

struct Budget {
  std::uint64_t evaluations = 0;  ///< 0 = not limited by count; strategies may pace themselves by it
};

/// What is known of a configuration from elsewhere: another device, shape or type.
struct PriorPoint {
  space::Config config;
  bool valid = false;
  double objective = 0;  ///< on the objective's scale (a log of time); only differences within a source count
};

/// One list a source. Nothing is believed because a prior says so: it decides where to look first, within a
/// bounded share of the budget, and is dropped when what is measured disagrees with it.
struct Prior {
  std::vector<std::vector<PriorPoint>> sources;
  [[nodiscard]] bool empty() const { return sources.empty(); }
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  /// Up to k legal configurations, none proposed before. Fewer, or none, when the strategy has nothing left
  /// (or waits for results that are still out).
  virtual std::vector<space::Config> ask(std::size_t k) = 0;
  virtual void tell(const Outcome& outcome) = 0;
};

struct StrategyInfo {
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<Strategy> (*make)(const space::Space& space, std::uint64_t seed, const Budget& budget);
  /// For strategies that make more of a prior than trying its best points first.
  std::unique_ptr<Strategy> (*make_with_prior)(const space::Space& space, std::uint64_t seed,
                                               const Budget& budget, const Prior& prior) = nullptr;
};

/// One line a strategy; the first is the default.
[[nodiscard]] const std::vector<StrategyInfo>& strategy_table();
[[nodiscard]] Result<std::unique_ptr<Strategy>> make_strategy(std::string_view name,
                                                              const space::Space& space, std::uint64_t seed,
                                                              const Budget& budget, const Prior& prior = {});

}  // namespace tunesmith::search
