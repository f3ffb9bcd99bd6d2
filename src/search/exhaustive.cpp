// Every legal configuration once, in index order.
#include "search/config_set.h"
#include "search/strategies.h"

namespace tunesmith::search {

namespace {

class Exhaustive : public Strategy {
 public:
  explicit Exhaustive(const space::Space& space) : m_space(space) {}

  std::vector<space::Config> ask(std::size_t k) override {
    std::vector<space::Config> proposals;
    while (proposals.size() < k && m_next < m_space.count()) {
      space::Config config = m_space.at(m_next++);
      if (!m_told.contains(config)) proposals.push_back(std::move(config));
    }
    return proposals;
  }

  void tell(const Outcome& outcome) override {
    // What lies behind needs no remembering: the order never comes back to it.
    const auto index = m_space.index_of(outcome.config);
    if (index && *index >= m_next) m_told.insert(outcome.config);
  }

 private:
  space::Space m_space;
  std::uint64_t m_next = 0;
  ConfigSet m_told;
};

}  // namespace

std::unique_ptr<Strategy> make_exhaustive(const space::Space& space, std::uint64_t, const Budget&) {
  return std::make_unique<Exhaustive>(space);
}

}  // namespace tunesmith::search
