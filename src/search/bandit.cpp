// A bandit over strategies: each proposal comes from the one whose recent proposals were most often a new
// best, counted by the area under that curve (Fialho 2010; Ansel and others 2014), plus a bonus for those
// tried rarely. Every result is told to all of them.
#include <cmath>
#include <deque>

#include "search/proposer.h"
#include "search/strategies.h"

namespace tunesmith::search {

namespace {

constexpr std::size_t k_window = 100;  ///< proposals that count
constexpr double k_exploration = 0.1;  ///< weight of the bonus
constexpr int k_tries = 5;             ///< for a proposal that no other arm made before

class Bandit : public Proposer {
 public:
  Bandit(const space::Space& space, std::uint64_t seed, const Budget& budget)
      : Proposer(space, seed, "bandit") {
    using Make = std::unique_ptr<Strategy> (*)(const space::Space&, std::uint64_t, const Budget&);
    for (const Make make :
         {make_surrogate, make_annealing, make_tabu, make_genetic, make_swarm, make_iterated})
      m_arms.push_back(make(this->space(), seed, budget));
  }

 private:
  struct Use {
    std::size_t arm;
    bool improved;
  };

  std::optional<space::Config> propose() override {
    const std::size_t arm = choose();
    m_uses.push_back({arm, false});
    if (m_uses.size() > k_window) {
      m_uses.pop_front();
      ++m_dropped;
    }
    for (int i = 0; i < k_tries; ++i) {
      std::vector<space::Config> asked = m_arms[arm]->ask(1);
      if (asked.empty()) break;
      if (seen(asked[0])) continue;
      m_from[asked[0]] = m_dropped + m_uses.size() - 1;
      return asked[0];
    }
    return std::nullopt;
  }

  [[nodiscard]] std::size_t choose() const {
    std::size_t chosen = 0;
    double most = -1;
    for (std::size_t arm = 0; arm < m_arms.size(); ++arm) {
      double area = 0;
      double count = 0;
      for (const Use& use : m_uses) {
        if (use.arm != arm) continue;
        ++count;
        if (use.improved) area += count;
      }
      if (count == 0) return arm;
      const double credit = 2 * area / (count * (count + 1));
      const double bonus = std::sqrt(2 * std::log(static_cast<double>(m_uses.size())) / count);
      if (credit + k_exploration * bonus <= most) continue;
      most = credit + k_exploration * bonus;
      chosen = arm;
    }
    return chosen;
  }

  void learn(const Outcome& outcome) override {
    const auto from = m_from.find(outcome.config);
    if (from != m_from.end()) {
      if (best() != nullptr && best()->config == outcome.config && from->second >= m_dropped)
        m_uses[from->second - m_dropped].improved = true;
      m_from.erase(from);
    }
    for (const auto& arm : m_arms) arm->tell(outcome);
  }

  std::vector<std::unique_ptr<Strategy>> m_arms;
  std::deque<Use> m_uses;
  std::size_t m_dropped = 0;
  std::unordered_map<space::Config, std::size_t, ConfigHash> m_from;  ///< which use proposed it
};

}  // namespace

std::unique_ptr<Strategy> make_bandit(const space::Space& space, std::uint64_t seed, const Budget& budget) {
  return std::make_unique<Bandit>(space, seed, budget);
}

}  // namespace tunesmith::search
