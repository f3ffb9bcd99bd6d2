// A steady-state genetic algorithm (Holland 1975; Whitley 1989): tournament selection, uniform crossover and
// mutation along legal points, and a child replaces the worst when it is better.
#include "search/population.h"
#include "search/strategies.h"

namespace tunesmith::search {

namespace {

constexpr std::size_t k_tournament = 3;
constexpr double k_mutation = 0.5;  ///< chance of a random step after crossover
constexpr int k_tries = 10;         ///< for a child that was not seen before

class Genetic : public Population {
 public:
  Genetic(const space::Space& space, std::uint64_t seed, const Budget& budget)
      : Population(space, seed, "genetic", budget) {}

 private:
  std::optional<space::Config> propose() override {
    if (proposed() < size() || m_members.size() < 2) return first_member();
    for (int i = 0; i < k_tries; ++i) {
      const Outcome& one = parent();
      const Outcome& other = parent();
      space::Config child = towards(space(), one.config, other.config, 0.5, rng());
      if (rng().chance(k_mutation) || seen(child)) child = random_walk(space(), std::move(child), 1, rng());
      if (!seen(child)) return child;
    }
    return std::nullopt;
  }

  const Outcome& parent() {
    const Outcome* chosen = nullptr;
    for (std::size_t i = 0; i < k_tournament; ++i) {
      const Outcome& member = m_members[rng().below(m_members.size())];
      if (chosen == nullptr || member.objective < chosen->objective) chosen = &member;
    }
    return *chosen;
  }

  void learn(const Outcome& outcome) override {
    if (!outcome.valid) return;
    if (m_members.size() < size()) {
      m_members.push_back(outcome);
      return;
    }
    const auto worst =
        std::max_element(m_members.begin(), m_members.end(),
                         [](const Outcome& a, const Outcome& b) { return a.objective < b.objective; });
    if (outcome.objective < worst->objective) *worst = outcome;
  }

  std::vector<Outcome> m_members;
};

}  // namespace

std::unique_ptr<Strategy> make_genetic(const space::Space& space, std::uint64_t seed, const Budget& budget) {
  return std::make_unique<Genetic>(space, seed, budget);
}

}  // namespace tunesmith::search
