// All legal configurations in random order, each once, without holding them: a shuffle whose untouched part
// is implicit, so that memory grows with what was drawn and not with the space.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <unordered_map>

#include "base/random.h"
#include "search/config_set.h"

namespace tunesmith::search {

class Shuffled {
 public:
  Shuffled(const space::Space& space, std::uint64_t seed)
      : m_space(space), m_rng(seed), m_left(space.count()) {}

  /// The next one that is not in `seen`; nullopt when there is none left.
  [[nodiscard]] std::optional<space::Config> next(const ConfigSet& seen) {
    return next([&](const space::Config& config) { return seen.contains(config); });
  }
  template <class Seen>
  requires std::predicate<Seen, const space::Config&>
  [[nodiscard]] std::optional<space::Config> next(const Seen& seen) {
    // Beyond 64 bits indices are not exact; such a space is never exhausted, so drawing again is enough.
    if (m_space.count() == std::numeric_limits<std::uint64_t>::max()) {
      while (true) {
        space::Config config = m_space.sample(m_rng);
        if (!seen(config)) return config;
      }
    }
    while (m_left > 0) {
      const std::uint64_t at = m_rng.below(m_left--);
      const std::uint64_t drawn = held(at);
      if (at != m_left) m_moved[at] = held(m_left);  // the last one takes the free place
      m_moved.erase(m_left);
      space::Config config = m_space.at(drawn);
      if (!seen(config)) return config;
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] std::uint64_t held(std::uint64_t at) const {
    const auto moved = m_moved.find(at);
    return moved == m_moved.end() ? at : moved->second;
  }
  const space::Space& m_space;
  Rng m_rng;
  std::uint64_t m_left;
  std::unordered_map<std::uint64_t, std::uint64_t> m_moved;
};

}  // namespace tunesmith::search
