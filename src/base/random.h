// Seeded random numbers that give the same stream on every machine (the standard distributions do not).
// xoshiro256**, Blackman and Vigna 2018, seeded by splitmix64.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace tunesmith {

class Rng {
 public:
  explicit Rng(std::uint64_t seed);
  std::uint64_t next();
  std::uint64_t below(std::uint64_t limit);  ///< uniform in [0, limit); limit 0 gives 0
  double uniform();                          ///< [0, 1)
  double normal();                           ///< mean 0, deviation 1
  bool chance(double probability) { return uniform() < probability; }
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::uint64_t m_state[4];
};

/// A new seed derived from one seed and a purpose, so that streams never overlap.
[[nodiscard]] std::uint64_t derive_seed(std::uint64_t seed, std::string_view purpose);
/// Unpredictable, from the kernel; for secrets such as a run's input seed.
[[nodiscard]] std::uint64_t secret_seed();

}  // namespace tunesmith
