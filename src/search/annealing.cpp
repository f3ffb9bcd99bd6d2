// Simulated annealing (Kirkpatrick, Gelatt, Vecchi 1983) over one-parameter steps. The temperature falls
// geometrically over the whole budget, from the spread of the first results to a hundredth of it; without a
// budget it falls over 200 evaluations and begins again from the best.
#include <algorithm>
#include <cmath>

#include "search/moves.h"
#include "search/proposer.h"
#include "search/strategies.h"

namespace tunesmith::search {

namespace {

constexpr std::uint64_t k_default_schedule = 200;
constexpr double k_cold = 0.01;            ///< of the first temperature, at the end
constexpr std::size_t k_warm_up = 5;       ///< random points, whose spread sets the temperature
constexpr std::size_t k_free_steps = 200;  ///< over known points at once, which cost nothing

class Annealing : public Proposer {
 public:
  Annealing(const space::Space& space, std::uint64_t seed, const Budget& budget)
      : Proposer(space, seed, "annealing"),
        m_schedule(budget.evaluations > 0 ? budget.evaluations : k_default_schedule) {}

 private:
  std::optional<space::Config> propose() override {
    if (results().size() < warm_up() || !m_at) return std::nullopt;
    if (results().size() >= m_next_start) {
      m_at = *best();
      m_next_start += m_schedule;
    }
    for (std::size_t i = 0; i < k_free_steps; ++i) {
      auto step = random_step(space(), m_at->config, rng());
      if (!step) return std::nullopt;
      if (!seen(*step)) return step;
      if (const Outcome* outcome = known(*step)) consider(*outcome);
    }
    return std::nullopt;
  }

  void learn(const Outcome& outcome) override {
    if (!outcome.valid) return;
    if (results().size() <= warm_up()) {
      m_low = m_at ? std::min(m_low, outcome.objective) : outcome.objective;
      m_high = m_at ? std::max(m_high, outcome.objective) : outcome.objective;
    }
    consider(outcome);
  }

  void consider(const Outcome& outcome) {
    if (!outcome.valid) return;
    const bool better = !m_at || outcome.objective <= m_at->objective;
    // A half of the spread: most steps are taken at first. Halves, so that extremes do not overflow.
    const double half = m_high / 2 - m_low / 2;
    const auto done = static_cast<double>(results().size() % m_schedule) / static_cast<double>(m_schedule);
    const double temperature = half * std::pow(k_cold, done);
    if (better || (temperature > 0 &&
                   rng().chance(std::exp((m_at->objective / 2 - outcome.objective / 2) / temperature * 2))))
      m_at = outcome;
  }

  [[nodiscard]] std::size_t warm_up() const { return std::clamp<std::size_t>(m_schedule / 4, 1, k_warm_up); }

  std::uint64_t m_schedule;
  std::uint64_t m_next_start = m_schedule;
  std::optional<Outcome> m_at;
  double m_low = 0, m_high = 0;
};

}  // namespace

std::unique_ptr<Strategy> make_annealing(const space::Space& space, std::uint64_t seed,
                                         const Budget& budget) {
  return std::make_unique<Annealing>(space, seed, budget);
}

}  // namespace tunesmith::search
