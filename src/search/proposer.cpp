#include "search/proposer.h"

#include <cmath>

namespace tunesmith::search {

Proposer::Proposer(const space::Space& space, std::uint64_t seed, std::string_view name)
    : m_space(space),
      m_rng(derive_seed(seed, name)),
      m_order(m_space, derive_seed(derive_seed(seed, name), "order")) {}

std::optional<space::Config> Proposer::fresh() {
  return m_order.next([this](const space::Config& config) { return seen(config); });
}

std::vector<space::Config> Proposer::ask(std::size_t k) {
  std::vector<space::Config> proposals;
  while (proposals.size() < k) {
    auto next = propose();
    if (!next || seen(*next) || !m_space.legal(*next)) next = fresh();
    if (!next) break;
    m_place.emplace(*next, k_out);
    proposals.push_back(std::move(*next));
  }
  return proposals;
}

void Proposer::tell(const Outcome& outcome) {
  if (!m_space.legal(outcome.config)) return;
  std::size_t& place = m_place.try_emplace(outcome.config, k_out).first->second;
  if (place != k_out) return;
  place = m_results.size();
  // What has no finite objective is a failure, whatever it says.
  const bool valid = outcome.valid && std::isfinite(outcome.objective);
  m_results.push_back({outcome.config, valid, valid ? outcome.objective : 0});
  if (valid && (m_best == k_out || outcome.objective < m_results[m_best].objective)) m_best = place;
  learn(m_results.back());
}

const Outcome* Proposer::known(const space::Config& config) const {
  const auto found = m_place.find(config);
  return found == m_place.end() || found->second == k_out ? nullptr : &m_results[found->second];
}

const Outcome* Proposer::best() const { return m_best == k_out ? nullptr : &m_results[m_best]; }

}  // namespace tunesmith::search
