// A space-filling start, then mostly the most promising point under a forest of trees (expected
// improvement or optimism, times the chance of being valid), looked for among random points, neighbours of
// the best and a climb from there; now and then a step around the best, and a random point so that no model
// error lasts.
#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numbers>

#include "search/features.h"
#include "search/forest.h"
#include "search/moves.h"
#include "search/shuffled.h"
#include "search/strategies.h"

namespace tunesmith::search {

namespace {

constexpr std::size_t k_trees = 30;
constexpr std::size_t k_validity_trees = 15;  ///< a chance needs fewer than an expectation
// With the neighbours of the best and the climbs some 1,000 points are scored for one proposal: a few
// milliseconds.
constexpr std::size_t k_random_pool = 300;
constexpr std::size_t k_elite = 6;
constexpr std::size_t k_climbs = 3;
constexpr std::size_t k_climb_steps = 6;
constexpr std::size_t k_neighbour_pool =
    64;  ///< of one point, so that parameters with many values stay affordable
constexpr double k_random_share = 0.04;
constexpr std::uint64_t k_step_period = 5;  ///< every fifth model proposal stays around the best
// In deviations between trees.
constexpr double k_optimism = 1.5;
constexpr std::size_t k_start_candidates = 24;

struct Scored {
  space::Config config;
  double score = 0;
};

class Surrogate : public Strategy {
 public:
  Surrogate(const space::Space& space, std::uint64_t seed, const Budget& budget)
      : m_space(space),
        m_features(m_space),
        m_order(m_space, derive_seed(seed, "surrogate.random")),
        m_rng(derive_seed(seed, "surrogate.pool")),
        m_seed(seed) {
    m_start = std::max<std::size_t>(8, 2 * m_features.dimensions());
    // A third of a small budget is enough for looking around.
    if (budget.evaluations > 0)
      m_start = std::min<std::size_t>(m_start, std::max<std::uint64_t>(3, budget.evaluations / 3));
  }

  std::vector<space::Config> ask(std::size_t k) override {
    std::vector<space::Config> proposals;
    while (proposals.size() < k) {
      auto next = propose();
      if (!next) break;
      m_seen.insert(*next);
      m_proposed.push_back(*next);
      proposals.push_back(std::move(*next));
    }
    return proposals;
  }

  void tell(const Outcome& outcome) override {
    if (!m_space.legal(outcome.config)) return;
    m_seen.insert(outcome.config);
    const bool valid = outcome.valid && std::isfinite(outcome.objective);
    if (valid) {
      // Kept in order, best first; equal ones in the order told.
      const auto at =
          std::upper_bound(m_ranking.begin(), m_ranking.end(), outcome.objective,
                           [&](double value, std::size_t i) { return value < m_results[i].objective; });
      m_ranking.insert(at, m_results.size());
    }
    m_results.push_back({outcome.config, valid, valid ? outcome.objective : 0});
  }

 private:
  std::optional<space::Config> propose() {
    if (m_proposed.size() < m_start) return space_filling();
    if (m_results.size() < 3 || m_rng.chance(k_random_share)) return m_order.next(m_seen);
    refit();
    ++m_turn;
    std::optional<space::Config> found;
    if (!m_ranking.empty() && m_turn % k_step_period == 0) found = around_best();
    if (!found) found = most_promising();
    return found ? found : m_order.next(m_seen);
  }

  /// Of some random points the one farthest from all proposed so far.
  std::optional<space::Config> space_filling() {
    std::optional<space::Config> chosen;
    double farthest = -1;
    for (std::size_t i = 0; i < k_start_candidates; ++i) {
      space::Config config = m_space.sample(m_rng);
      if (m_seen.contains(config)) continue;
      double nearest = std::numeric_limits<double>::infinity();
      for (const space::Config& other : m_proposed)
        nearest = std::min(nearest, m_features.distance(config, other));
      for (const Outcome& other : m_results)
        nearest = std::min(nearest, m_features.distance(config, other.config));
      if (nearest <= farthest) continue;
      farthest = nearest;
      chosen = std::move(config);
    }
    return chosen ? chosen : m_order.next(m_seen);
  }

  void refit() {
    // With many results one more changes little; a fit costs n log n.
    if (m_fitted > 0 && m_results.size() < m_fitted + std::max<std::size_t>(1, m_fitted / 50)) return;
    m_fitted = m_results.size();
    Rng rng(derive_seed(m_seed + m_fitted, "surrogate.fit"));
    fit_objective(rng);
    m_validity = Forest();
    if (m_ranking.size() == m_results.size()) return;
    std::vector<float> rows;
    std::vector<double> valid;
    for (const Outcome& outcome : m_results) {
      m_features.append(outcome.config, rows);
      valid.push_back(outcome.valid ? 1 : 0);
    }
    m_validity.fit(rows, m_features.width(), valid, k_validity_trees, rng);
  }

  void fit_objective(Rng& rng) {
    m_model = Forest();
    if (m_ranking.empty()) return;
    // Scaled by the better half and cut above it: how bad the bad ones are says nothing about the best, and a
    // single enormous value would drown everything. The division before the difference keeps it finite.
    const double best = m_results[m_ranking.front()].objective;
    const double middle = m_results[m_ranking[m_ranking.size() / 2]].objective;
    double scale = middle / 4 - best / 4;
    if (!(scale > 0)) scale = std::max(std::fabs(best) / 4, std::numeric_limits<double>::min());
    std::vector<float> rows;
    std::vector<double> targets;
    for (const std::size_t i : m_ranking) {
      m_features.append(m_results[i].config, rows);
      targets.push_back(std::min((m_results[i].objective / 4 - best / 4) / scale, k_cut));
    }
    m_model.fit(rows, m_features.width(), targets, k_trees, rng);
  }

  /// How much a point promises, times the chance of being valid. Turn by turn the expected improvement over
  /// the best (0 on the model's scale) and an optimist's view, since the former alone settles too early where
  /// trees agree.
  double score(const space::Config& config) {
    m_row.clear();
    m_features.append(config, m_row);
    const double chance = m_validity.empty() ? 1 : std::clamp(m_validity.predict(m_row).mean, 0.02, 1.0);
    if (m_model.empty()) return chance;
    const Prediction prediction = m_model.predict(m_row);
    const double deviation = prediction.deviation + 1e-3;
    if (m_turn % 2 == 0) return (k_cut + 1 - prediction.mean + k_optimism * prediction.deviation) * chance;
    const double z = -prediction.mean / deviation;
    const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
    const double below = 0.5 * std::erfc(-z / std::numbers::sqrt2);
    return deviation * (z * below + density) * chance;
  }

  double expected(const space::Config& config) {
    m_row.clear();
    m_features.append(config, m_row);
    const double chance = m_validity.empty() ? 1 : std::clamp(m_validity.predict(m_row).mean, 0.02, 1.0);
    return m_model.predict(m_row).mean * chance + k_cut * (1 - chance);
  }

  [[nodiscard]] std::vector<space::Config> some_neighbours(const space::Config& config) {
    std::vector<space::Config> near = one_changed(m_space, config, m_rng);
    if (near.size() <= k_neighbour_pool) return near;
    for (std::size_t i = 0; i < k_neighbour_pool; ++i)
      std::swap(near[i], near[i + m_rng.below(near.size() - i)]);
    near.resize(k_neighbour_pool);
    return near;
  }

  /// The unseen neighbour of one of the best that the model expects to be fastest.
  std::optional<space::Config> around_best() {
    std::optional<space::Config> chosen;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < std::min<std::size_t>(2, m_ranking.size()); ++i) {
      for (space::Config& config :
           m_space.neighbours(m_results[m_ranking[i]].config, space::Neighbourhood::adjacent)) {
        if (m_seen.contains(config)) continue;
        const double value = expected(config);
        if (value >= least) continue;
        least = value;
        chosen = std::move(config);
      }
      if (chosen) break;
    }
    return chosen;
  }

  std::optional<space::Config> most_promising() {
    ConfigSet tried;
    std::vector<Scored> pool;
    const auto consider = [&](const space::Config& config) {
      if (m_seen.contains(config) || !tried.insert(config).second) return;
      pool.push_back({config, score(config)});
    };
    if (m_space.count() <= 2 * k_random_pool) {
      m_space.for_each([&](const space::Config& config) {
        consider(config);
        return true;
      });
    } else {
      for (std::size_t i = 0; i < k_random_pool; ++i) consider(m_space.sample(m_rng));
      for (std::size_t i = 0; i < std::min(k_elite, m_ranking.size()); ++i)
        for (const space::Config& config : some_neighbours(m_results[m_ranking[i]].config)) consider(config);
    }
    if (pool.empty()) return std::nullopt;
    const auto better = [](const Scored& a, const Scored& b) { return a.score > b.score; };
    std::stable_sort(pool.begin(), pool.end(), better);
    Scored best = pool.front();
    const std::size_t climbs = std::min(k_climbs, pool.size());
    for (std::size_t climb = 0; climb < climbs; ++climb) {
      Scored at = pool[climb];
      for (std::size_t step = 0; step < k_climb_steps; ++step) {
        const std::size_t before = pool.size();
        for (const space::Config& config : some_neighbours(at.config)) consider(config);
        const auto top =
            std::min_element(pool.begin() + static_cast<std::ptrdiff_t>(before), pool.end(), better);
        if (top == pool.end() || top->score <= at.score) break;
        at = *top;
      }
      if (at.score > best.score) best = at;
    }
    return best.config;
  }

  static constexpr double k_cut = 2;  ///< on the model's scale: the best is 0, the median 1
  space::Space m_space;
  Features m_features;
  Shuffled m_order;
  Rng m_rng;
  std::uint64_t m_seed;
  std::size_t m_start = 0;
  std::uint64_t m_turn = 0;
  ConfigSet m_seen;
  std::vector<space::Config> m_proposed;
  std::vector<Outcome> m_results;
  std::vector<std::size_t> m_ranking;  ///< valid results, best first
  std::size_t m_fitted = 0;
  Forest m_model, m_validity;
  std::vector<float> m_row;
};

}  // namespace

std::unique_ptr<Strategy> make_surrogate(const space::Space& space, std::uint64_t seed,
                                         const Budget& budget) {
  return std::make_unique<Surrogate>(space, seed, budget);
}

}  // namespace tunesmith::search
