#include "base/random.h"

#include <sys/random.h>

#include <cmath>
#include <cstdlib>
#include <numbers>

#include "base/hash.h"

namespace tunesmith {

namespace {

std::uint64_t splitmix(std::uint64_t& state) {
  state += 0x9E3779B97F4A7C15ULL;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

std::uint64_t rotate_left(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

}  // namespace

Rng::Rng(std::uint64_t seed) {
  for (std::uint64_t& word : m_state) word = splitmix(seed);
}

std::uint64_t Rng::next() {
  const std::uint64_t result = rotate_left(m_state[1] * 5, 7) * 9;
  const std::uint64_t t = m_state[1] << 17;
  m_state[2] ^= m_state[0];
  m_state[3] ^= m_state[1];
  m_state[1] ^= m_state[2];
  m_state[0] ^= m_state[3];
  m_state[2] ^= t;
  m_state[3] = rotate_left(m_state[3], 45);
  return result;
}

std::uint64_t Rng::below(std::uint64_t limit) {
  if (limit == 0) return 0;
  // Rejection keeps it exactly uniform.
  const std::uint64_t threshold = (0 - limit) % limit;
  while (true) {
    const std::uint64_t x = next();
    if (x >= threshold) return x % limit;
  }
}

double Rng::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

double Rng::normal() {
  const double u = 1.0 - uniform();
  const double v = uniform();
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

std::uint64_t derive_seed(std::uint64_t seed, std::string_view purpose) {
  return hash64(purpose.data(), purpose.size(), seed * 0x9E3779B97F4A7C15ULL + 1);
}

std::uint64_t secret_seed() {
  std::uint64_t seed = 0;
  // A guessable seed would let a candidate know its inputs, so there is no fallback.
  if (getrandom(&seed, sizeof seed, 0) != static_cast<ssize_t>(sizeof seed)) std::abort();
  return seed;
}

}  // namespace tunesmith
