// Differential evolution (Storn and Price 1997), best/1/bin, on positions of values: a trial takes from a
// member near the best, and each parameter in which two others differ moves by a share of that difference, if
// the space allows it. Without an order a parameter takes the value of one of the two.
#include <cmath>

#include "search/population.h"
#include "search/strategies.h"

namespace tunesmith::search {

namespace {

constexpr double k_weight = 0.7;  ///< of a difference
constexpr double k_cross = 0.7;   ///< chance that a parameter comes from the mutant
constexpr int k_tries = 10;

class Differential : public Population {
 public:
  Differential(const space::Space& space, std::uint64_t seed, const Budget& budget)
      : Population(space, seed, "differential", budget) {}

 private:
  std::optional<space::Config> propose() override {
    if (proposed() < size() || m_members.size() < 3) return first_member();
    for (int i = 0; i < k_tries; ++i) {
      const std::size_t target = m_turn++ % m_members.size();
      space::Config next = trial(m_members[target].config);
      if (seen(next)) next = random_walk(space(), std::move(next), 1, rng());
      if (seen(next)) continue;
      m_targets[next] = target;
      return next;
    }
    return std::nullopt;
  }

  space::Config trial(space::Config config) {
    const space::Config& base = rng().chance(0.5) ? best()->config : pick();
    const space::Config& a = pick();
    const space::Config& b = pick();
    for (std::size_t p = 0; p < config.at.size(); ++p) {
      if (!rng().chance(k_cross)) continue;
      const space::Parameter& parameter = space().parameters()[p];
      std::uint32_t value = base.at[p];
      if (a.at[p] != b.at[p]) {
        if (parameter.ordered()) {
          const double moved = base.at[p] + k_weight * (static_cast<double>(a.at[p]) - b.at[p]);
          const auto last = static_cast<double>(parameter.values.size() - 1);
          value = static_cast<std::uint32_t>(std::clamp(std::round(moved), 0.0, last));
        } else {
          value = a.at[p];
        }
      }
      try_set(space(), config, p, value);
    }
    return config;
  }

  const space::Config& pick() { return m_members[rng().below(m_members.size())].config; }

  void learn(const Outcome& outcome) override {
    const auto target = m_targets.find(outcome.config);
    if (outcome.valid) {
      if (m_members.size() < size()) {
        m_members.push_back(outcome);
      } else if (target != m_targets.end()) {
        if (outcome.objective <= m_members[target->second].objective) m_members[target->second] = outcome;
      } else {
        // Came from elsewhere: takes the place of the worst, if it is better.
        const auto worst =
            std::max_element(m_members.begin(), m_members.end(),
                             [](const Outcome& a, const Outcome& b) { return a.objective < b.objective; });
        if (outcome.objective < worst->objective) *worst = outcome;
      }
    }
    if (target != m_targets.end()) m_targets.erase(target);
  }

  std::vector<Outcome> m_members;
  std::size_t m_turn = 0;
  std::unordered_map<space::Config, std::size_t, ConfigHash> m_targets;  ///< whom a trial may replace
};

}  // namespace

std::unique_ptr<Strategy> make_differential(const space::Space& space, std::uint64_t seed,
                                            const Budget& budget) {
  return std::make_unique<Differential>(space, seed, budget);
}

}  // namespace tunesmith::search
