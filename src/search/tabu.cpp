// Tabu search (Glover 1986): looks at a sample of the neighbours and moves to the best of them, even uphill.
// What was evaluated is never proposed again, which makes the whole past tabu.
#include <deque>

#include "search/moves.h"
#include "search/proposer.h"
#include "search/strategies.h"

namespace tunesmith::search {

namespace {

// Neighbours looked at before a move: all of them would spend a small budget around one point.
constexpr std::size_t k_sample = 8;
// Moves without a new best before it goes back to near the best.
constexpr int k_patience = 4;

class Tabu : public Proposer {
 public:
  Tabu(const space::Space& space, std::uint64_t seed) : Proposer(space, seed, "tabu") {}

 private:
  std::optional<space::Config> propose() override {
    if (m_queue.empty() && m_out.empty()) move();
    while (!m_queue.empty()) {
      space::Config next = std::move(m_queue.front());
      m_queue.pop_front();
      if (seen(next)) continue;
      m_out.insert(next);
      return next;
    }
    return std::nullopt;
  }

  void learn(const Outcome& outcome) override {
    const bool mine = m_out.erase(outcome.config) > 0;
    // A random point that stood in counts as well when nothing has been found yet.
    if (outcome.valid && (mine || !m_at) && (!m_step || outcome.objective < m_step->objective))
      m_step = outcome;
  }

  void move() {
    if (m_step) {
      m_at = m_step;
      m_step.reset();
      if (!m_best || m_at->objective < *m_best) {
        m_best = m_at->objective;
        m_idle = 0;
      } else if (++m_idle >= k_patience) {
        m_at = *best();
        m_idle = 0;
      }
    } else if (best() != nullptr) {
      m_at = *best();
    }
    if (!m_at) return;
    if (!refill(m_at->config)) refill(random_walk(space(), best()->config, 3, rng()));
  }

  bool refill(const space::Config& around) {
    std::vector<space::Config> near = one_changed(space(), around, rng());
    rng().shuffle(near);
    for (space::Config& config : near) {
      if (m_queue.size() == k_sample) break;
      if (!seen(config)) m_queue.push_back(std::move(config));
    }
    return !m_queue.empty();
  }

  std::optional<Outcome> m_at, m_step;  ///< where it stands; the best seen since
  std::optional<double> m_best;
  int m_idle = 0;
  std::deque<space::Config> m_queue;
  ConfigSet m_out;
};

}  // namespace

std::unique_ptr<Strategy> make_tabu(const space::Space& space, std::uint64_t seed, const Budget&) {
  return std::make_unique<Tabu>(space, seed);
}

}  // namespace tunesmith::search
