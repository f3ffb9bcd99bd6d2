// Any strategy with a prior: its best points are tried first, within a bounded share of the budget, then the
// strategy goes on with what they taught.
#include <algorithm>
#include <cmath>

#include "search/config_set.h"
#include "search/prior.h"
#include "search/strategies.h"

namespace tunesmith::search {

namespace {

// A quarter of the budget at most, and no more than this: what was fast elsewhere is soon tried.
constexpr double k_share = 0.25;
constexpr std::size_t k_most = 10;

class PriorFirst : public Strategy {
 public:
  PriorFirst(std::unique_ptr<Strategy> inner, std::vector<space::Config> first)
      : m_inner(std::move(inner)), m_first(std::move(first)) {}

  std::vector<space::Config> ask(std::size_t k) override {
    std::vector<space::Config> proposals;
    while (proposals.size() < k && m_next < m_first.size()) {
      const space::Config& config = m_first[m_next++];
      if (m_seen.insert(config).second) proposals.push_back(config);
    }
    while (proposals.size() < k) {
      std::vector<space::Config> more = m_inner->ask(k - proposals.size());
      if (more.empty()) break;
      // One of the prior's points may still be out, so that the strategy has not heard of it.
      for (space::Config& config : more)
        if (m_seen.insert(config).second) proposals.push_back(std::move(config));
    }
    return proposals;
  }

  void tell(const Outcome& outcome) override {
    m_seen.insert(outcome.config);
    m_inner->tell(outcome);
  }

 private:
  std::unique_ptr<Strategy> m_inner;
  std::vector<space::Config> m_first;
  std::size_t m_next = 0;
  ConfigSet m_seen;
};

}  // namespace

std::unique_ptr<Strategy> with_prior(std::unique_ptr<Strategy> strategy, const space::Space& space,
                                     std::uint64_t seed, const Budget& budget, const Prior& prior) {
  std::size_t limit = k_most;
  if (budget.evaluations > 0) {
    const double share = std::ceil(k_share * static_cast<double>(budget.evaluations));
    limit = std::min(limit, static_cast<std::size_t>(share));
  }
  return std::make_unique<PriorFirst>(std::move(strategy), PriorModel(space, prior, seed).best(limit));
}

}  // namespace tunesmith::search
