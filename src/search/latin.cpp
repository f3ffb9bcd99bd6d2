// Latin hypercube sampling (McKay, Beckman, Conover 1979) under constraints: every value of every parameter
// as evenly as legal points allow, for the whole search.
#include "search/moves.h"
#include "search/proposer.h"
#include "search/strategies.h"

namespace tunesmith::search {

namespace {

// Legal points of which the one with the rarest values is taken.
constexpr std::size_t k_tries = 32;

class Latin : public Proposer {
 public:
  Latin(const space::Space& space, std::uint64_t seed)
      : Proposer(space, seed, "latin"), m_used(no_uses(this->space())) {}

 private:
  std::optional<space::Config> propose() override {
    space::Config next = least_used(space(), m_used, k_tries, rng());
    if (seen(next)) return std::nullopt;
    count_use(m_used, next);
    return next;
  }

  Uses m_used;
};

}  // namespace

std::unique_ptr<Strategy> make_latin(const space::Space& space, std::uint64_t seed, const Budget&) {
  return std::make_unique<Latin>(space, seed);
}

}  // namespace tunesmith::search
