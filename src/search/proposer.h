// What strategies share: the history, the best so far, and the promise that every proposal is legal and new.
// A strategy only says where it would go next; where it has no idea, or one that was proposed before, the
// next point of a random order stands in, so that each strategy ends, and not before the space does.
#pragma once

#include <cstddef>
#include <optional>
#include <unordered_map>
#include <vector>

#include "search/shuffled.h"
#include "search/strategy.h"

namespace tunesmith::search {

class Proposer : public Strategy {
 public:
  Proposer(const space::Space& space, std::uint64_t seed, std::string_view name);
  std::vector<space::Config> ask(std::size_t k) final;
  void tell(const Outcome& outcome) final;

 protected:
  /// Where to go next. Nullopt, a point proposed before or an illegal one: a random one is taken.
  virtual std::optional<space::Config> propose() = 0;
  /// An outcome has become known; valid ones have a finite objective. Points that were not asked for come
  /// too, each point once.
  virtual void learn(const Outcome&) {}

  [[nodiscard]] const space::Space& space() const { return m_space; }
  [[nodiscard]] Rng& rng() { return m_rng; }
  /// Proposed, or told.
  [[nodiscard]] bool seen(const space::Config& config) const { return m_place.contains(config); }
  /// nullptr while it is out, or was never proposed.
  [[nodiscard]] const Outcome* known(const space::Config& config) const;
  [[nodiscard]] const std::vector<Outcome>& results() const { return m_results; }  ///< as told
  [[nodiscard]] const Outcome* best() const;  ///< nullptr without a valid one; the first of equals
  [[nodiscard]] std::size_t proposed() const { return m_place.size(); }
  /// The next one of a random order that is new; nullopt when the space is used up.
  [[nodiscard]] std::optional<space::Config> fresh();

 private:
  static constexpr std::size_t k_out = static_cast<std::size_t>(-1);
  space::Space m_space;  ///< shares its diagram; nothing is copied
  Rng m_rng;
  Shuffled m_order;
  std::unordered_map<space::Config, std::size_t, ConfigHash> m_place;  ///< in m_results, or k_out
  std::vector<Outcome> m_results;
  std::size_t m_best = k_out;
};

}  // namespace tunesmith::search
