// Random search without replacement: the yardstick for every other strategy.
#include "search/shuffled.h"
#include "search/strategies.h"

namespace tunesmith::search {

namespace {

class RandomSearch : public Strategy {
 public:
  RandomSearch(const space::Space& space, std::uint64_t seed)
      : m_space(space), m_order(m_space, derive_seed(seed, "random")) {}

  std::vector<space::Config> ask(std::size_t k) override {
    std::vector<space::Config> proposals;
    while (proposals.size() < k) {
      auto next = m_order.next(m_seen);
      if (!next) break;
      m_seen.insert(*next);
      proposals.push_back(std::move(*next));
    }
    return proposals;
  }

  void tell(const Outcome& outcome) override { m_seen.insert(outcome.config); }

 private:
  space::Space m_space;
  Shuffled m_order;
  ConfigSet m_seen;
};

}  // namespace

std::unique_ptr<Strategy> make_random(const space::Space& space, std::uint64_t seed, const Budget&) {
  return std::make_unique<RandomSearch>(space, seed);
}

}  // namespace tunesmith::search
