// What strategies with a population share: how large it is for a budget, and its first members.
#pragma once

#include <algorithm>

#include "search/moves.h"
#include "search/proposer.h"

namespace tunesmith::search {

class Population : public Proposer {
 public:
  Population(const space::Space& space, std::uint64_t seed, std::string_view name, const Budget& budget)
      : Proposer(space, seed, name), m_used(no_uses(this->space())) {
    // At least four generations in the budget.
    if (budget.evaluations > 0)
      m_size = static_cast<std::size_t>(std::clamp<std::uint64_t>(budget.evaluations / 5, 4, k_size));
  }

 protected:
  static constexpr std::size_t k_size = 16;
  [[nodiscard]] std::size_t size() const { return m_size; }
  /// A first member, spread evenly over the values of each parameter.
  [[nodiscard]] space::Config first_member() {
    constexpr std::size_t k_tries = 16;
    space::Config member = least_used(space(), m_used, k_tries, rng());
    count_use(m_used, member);
    return member;
  }

 private:
  std::size_t m_size = k_size;
  Uses m_used;
};

}  // namespace tunesmith::search
