// Greedy local search: from a random point to the first neighbour that is better, neighbours in random order;
// where none is, again from another random point.
#include "search/climber.h"
#include "search/strategies.h"

namespace tunesmith::search {

namespace {

class Greedy : public Climber {
 public:
  Greedy(const space::Space& space, std::uint64_t seed) : Climber(space, seed, "greedy") {}

 private:
  std::optional<space::Config> restart() override { return fresh(); }
};

}  // namespace

std::unique_ptr<Strategy> make_greedy(const space::Space& space, std::uint64_t seed, const Budget&) {
  return std::make_unique<Greedy>(space, seed);
}

}  // namespace tunesmith::search
