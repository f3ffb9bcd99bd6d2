// A hill climb that greedy and iterated local search share: it holds one point, proposes the point's
// neighbours in random order, moves to the first one that is better, and restarts from where the derived
// strategy says when all have been told without one.
#pragma once

#include <deque>

#include "search/moves.h"
#include "search/proposer.h"

namespace tunesmith::search {

class Climber : public Proposer {
 public:
  using Proposer::Proposer;

 protected:
  /// Where the next climb begins.
  virtual std::optional<space::Config> restart() = 0;

 private:
  std::optional<space::Config> propose() final {
    while (true) {
      while (!m_queue.empty()) {
        space::Config next = std::move(m_queue.front());
        m_queue.pop_front();
        if (seen(next)) continue;
        m_out.insert(next);
        return next;
      }
      // With results still out the climb may go on from one of them; until then a random point does no harm.
      if (!m_out.empty()) return std::nullopt;
      auto begin = restart();
      if (!begin) return std::nullopt;
      m_at = {};
      if (const Outcome* outcome = known(*begin); outcome != nullptr && outcome->valid) {
        move_to(*outcome);
        if (m_queue.empty()) return std::nullopt;  // all of its neighbours were proposed before
        continue;
      }
      if (seen(*begin)) return std::nullopt;
      m_out.insert(*begin);
      return begin;
    }
  }

  void learn(const Outcome& outcome) final {
    const bool mine = m_out.erase(outcome.config) > 0;
    if (!mine || !outcome.valid) return;
    if (!m_at || outcome.objective < m_at->objective) move_to(outcome);
  }

  void move_to(const Outcome& outcome) {
    m_at = outcome;
    std::vector<space::Config> near = one_changed(space(), outcome.config, rng());
    rng().shuffle(near);
    m_queue.clear();
    for (space::Config& config : near)
      if (!seen(config)) m_queue.push_back(std::move(config));
  }

  std::optional<Outcome> m_at;
  std::deque<space::Config> m_queue;  ///< neighbours still to propose
  ConfigSet m_out;                    ///< proposed by this climb, not told yet
};

}  // namespace tunesmith::search
