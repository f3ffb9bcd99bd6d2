// Particle swarm optimisation (Kennedy and Eberhart 1995) on a discrete space: instead of a velocity each
// particle takes, parameter by parameter, the value of its own best, of the swarm's best, or keeps its own,
// and makes a random step at times; every change only where it is legal.
#include "search/population.h"
#include "search/strategies.h"

namespace tunesmith::search {

namespace {

constexpr double k_own = 0.25, k_swarm = 0.35;  ///< chance that a parameter goes to that best
constexpr double k_wander = 0.5;                ///< chance of a random step
constexpr int k_tries = 10;

class Swarm : public Population {
 public:
  Swarm(const space::Space& space, std::uint64_t seed, const Budget& budget)
      : Population(space, seed, "swarm", budget) {}

 private:
  struct Particle {
    space::Config at;
    std::optional<Outcome> best;
  };

  std::optional<space::Config> propose() override {
    if (m_particles.size() < size()) {
      space::Config member = first_member();
      if (seen(member)) return std::nullopt;
      m_owner[member] = m_particles.size();
      m_particles.push_back({member, {}});
      return member;
    }
    for (int i = 0; i < k_tries; ++i) {
      const std::size_t which = m_turn++ % m_particles.size();
      Particle& particle = m_particles[which];
      space::Config next = particle.at;
      if (particle.best) next = towards(space(), std::move(next), particle.best->config, k_own, rng());
      if (best() != nullptr) next = towards(space(), std::move(next), best()->config, k_swarm, rng());
      if (rng().chance(k_wander) || seen(next)) next = random_walk(space(), std::move(next), 1, rng());
      particle.at = next;
      if (seen(next)) continue;
      m_owner[next] = which;
      return next;
    }
    return std::nullopt;
  }

  void learn(const Outcome& outcome) override {
    const auto owner = m_owner.find(outcome.config);
    if (owner == m_owner.end()) return;
    Particle& particle = m_particles[owner->second];
    if (outcome.valid && (!particle.best || outcome.objective < particle.best->objective))
      particle.best = outcome;
    // A failed place is no place to stay.
    if (!outcome.valid && particle.best) particle.at = particle.best->config;
    m_owner.erase(owner);
  }

  std::vector<Particle> m_particles;
  std::size_t m_turn = 0;
  std::unordered_map<space::Config, std::size_t, ConfigHash> m_owner;
};

}  // namespace

std::unique_ptr<Strategy> make_swarm(const space::Space& space, std::uint64_t seed, const Budget& budget) {
  return std::make_unique<Swarm>(space, seed, budget);
}

}  // namespace tunesmith::search
