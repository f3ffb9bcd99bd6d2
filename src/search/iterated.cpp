// Iterated local search (Lourenço, Martin, Stützle 2003): a greedy climb, then a kick of a few steps from the
// best point so far and another climb.
#include "search/climber.h"
#include "search/strategies.h"

namespace tunesmith::search {

namespace {

// Fewer steps fall back to the same top, more are a random restart.
constexpr std::size_t k_least_kick = 2, k_most_kick = 4;
// Kicks that end at points seen before, before a random point is taken.
constexpr int k_tries = 8;

class Iterated : public Climber {
 public:
  Iterated(const space::Space& space, std::uint64_t seed) : Climber(space, seed, "iterated") {}

 private:
  std::optional<space::Config> restart() override {
    if (best() == nullptr) return fresh();
    for (int i = 0; i < k_tries; ++i) {
      const std::size_t steps = k_least_kick + rng().below(k_most_kick - k_least_kick + 1);
      space::Config kicked = random_walk(space(), best()->config, steps, rng());
      if (!seen(kicked)) return kicked;
    }
    return fresh();
  }
};

}  // namespace

std::unique_ptr<Strategy> make_iterated(const space::Space& space, std::uint64_t seed, const Budget&) {
  return std::make_unique<Iterated>(space, seed);
}

}  // namespace tunesmith::search
