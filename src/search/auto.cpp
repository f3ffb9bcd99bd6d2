// The default: Bayesian optimisation (Jones, Schonlau, Welch 1998) with a Gaussian process over the metric of
// metric.h, made for budgets of tens to hundreds. A few points far from each other, then always the point
// with the largest expected improvement times the chance of being valid, looked for among random points, the
// neighbours of the best, and steps from the most promising. A prior becomes the model's mean, so that
// measurements overrule it, and is dropped when it does not agree with them.
#include "search/auto.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "search/moves.h"
#include "search/prior.h"
#include "search/proposer.h"
#include "search/strategies.h"

namespace tunesmith::search {

namespace {

// The model keeps so many points: its cost grows with their square. The best half stays.
constexpr std::size_t k_most_points = 500;
// Spread-out points keep away from the latest ones only, so that a long start stays cheap.
constexpr std::size_t k_remembered = 200;
constexpr std::size_t k_most_neighbours = 96;  ///< of one point, drawn at random beyond
constexpr std::size_t k_rated = 40;            ///< most promising points whose validity is looked at
// With a prior: of the first six points four are its best ones, and two spread out, to test it on.
constexpr std::string_view k_opening = "ppspsp";
constexpr std::size_t k_prior_points = 300;       ///< its best ones are in every pool
constexpr std::size_t k_prior_check = 6;          ///< valid results before it is judged
constexpr double k_least_agreement = 0.1;         ///< rank correlation
constexpr double k_prior_share = 0.5;             ///< of the budget
constexpr std::size_t k_prior_evaluations = 100;  ///< and never longer than this

struct Entry {
  space::Config config;
  Code code;
  bool known = false, valid = false;
  double objective = 0;
};

class Auto : public Proposer {
 public:
  Auto(const space::Space& space, std::uint64_t seed, const Budget& budget, const Prior& prior,
       const AutoSettings& settings)
      : Proposer(space, seed, "auto"),
        m_settings(settings),
        m_metric(this->space(), settings.metric),
        m_start(settings.start),
        m_prior_limit(k_prior_evaluations) {
    if (budget.evaluations > 0) {
      const auto evaluations = static_cast<double>(budget.evaluations);
      m_start = std::min(
          m_start, std::max<std::size_t>(3, static_cast<std::size_t>(evaluations * settings.start_share)));
      m_prior_limit = std::min(m_prior_limit, static_cast<std::size_t>(evaluations * k_prior_share) + 1);
    }
    if (!prior.empty()) {
      m_prior.emplace(this->space(), prior, seed);
      m_prior_best = m_prior->best(k_prior_points);
      if (m_prior_best.empty()) m_prior.reset();
    }
  }

 private:
  std::optional<space::Config> propose() override {
    auto next = choose();
    if (!next || seen(*next)) next = fresh();
    if (next) m_place.emplace(*next, enter(*next));
    return next;
  }

  void learn(const Outcome& outcome) override {
    const auto found = m_place.find(outcome.config);
    const std::size_t at = found != m_place.end() ? found->second : enter(outcome.config);
    m_place[outcome.config] = at;
    m_entries[at].known = true;
    m_entries[at].valid = outcome.valid;
    m_entries[at].objective = outcome.objective;
    ++m_known;
    m_valid += outcome.valid ? 1 : 0;
  }

  std::size_t enter(const space::Config& config) {
    if (const auto found = m_in_pool.find(config); found != m_in_pool.end()) m_taken[found->second] = true;
    m_entries.push_back({config, m_metric.code(config), false, false, 0});
    return m_entries.size() - 1;
  }

  std::optional<space::Config> choose() {
    if (m_metric.dimensions() == 0) return std::nullopt;
    if (m_prior && m_entries.size() < k_opening.size())
      return k_opening[m_entries.size()] == 'p' ? best_of_prior() : far_from_all();
    if (m_entries.size() < m_start || m_valid < 2) return far_from_all();
    return most_promising();
  }

  std::optional<space::Config> best_of_prior() {
    for (const space::Config& config : m_prior_best)
      if (!seen(config)) return config;
    return std::nullopt;
  }

  std::optional<space::Config> far_from_all() {
    std::optional<space::Config> chosen;
    double farthest = -1;
    for (std::size_t i = 0; i < m_settings.start_tries; ++i) {
      space::Config config = space().sample(rng());
      if (seen(config)) continue;
      const Code code = m_metric.code(config);
      double nearest = std::numeric_limits<double>::infinity();
      for (std::size_t e = m_entries.size() > k_remembered ? m_entries.size() - k_remembered : 0;
           e < m_entries.size(); ++e)
        nearest = std::min(nearest, m_metric.distance(code, m_entries[e].code));
      if (nearest <= farthest) continue;
      farthest = nearest;
      chosen = std::move(config);
    }
    return chosen;
  }

  /// A difference of objectives on the model's scale.
  [[nodiscard]] double soften(double value) const {
    return value > 1 ? 1 + m_settings.tail * std::log(value) : value;
  }

  [[nodiscard]] double prior_mean(const std::vector<float>& features) const {
    double sum = 0;
    for (const float value : features) sum += static_cast<double>(value);
    return features.empty() ? 0 : sum / static_cast<double>(features.size());
  }

  [[nodiscard]] ModelPoint model_point(const space::Config& config, const Code& code) const {
    ModelPoint point{code, {}};
    if (m_prior) {
      point.linear = m_prior->expected(config);
      for (float& value : point.linear)
        value = static_cast<float>(soften(static_cast<double>(value) / m_prior->middle()));
    }
    return point;
  }

  /// The target of each entry on the model's scale: 0 is the best, 1 the middle. What failed or is still out
  /// stands among the slower ones, so that the search turns elsewhere meanwhile.
  [[nodiscard]] std::vector<double> targets() const {
    std::vector<double> valid;
    for (const Entry& entry : m_entries)
      if (entry.valid) valid.push_back(entry.objective);
    std::sort(valid.begin(), valid.end());
    // Halves: the difference of two extreme objectives must stay finite.
    const auto above = [&](double objective) { return objective / 2 - valid.front() / 2; };
    const auto at = [&](double q) {
      // Rounded towards the slower end: of two points a failure is like the slower one.
      return above(valid[static_cast<std::size_t>(std::ceil(q * static_cast<double>(valid.size() - 1)))]);
    };
    double scale = m_prior ? m_prior->middle() / 2 : at(m_settings.scale_quantile);
    if (!(scale > 0)) scale = std::max(std::fabs(valid.front()) * 1e-9, std::numeric_limits<double>::min());
    const auto scaled = [&](double value) { return soften(std::min(value / scale, 1e12)); };
    const double failure = scaled(at(m_settings.failure_quantile));
    std::vector<double> result;
    for (const Entry& entry : m_entries)
      result.push_back(entry.valid ? scaled(above(entry.objective)) : failure);
    return result;
  }

  void judge_prior() {
    if (!m_prior || m_valid < k_prior_check) return;
    std::vector<double> expected;
    std::vector<double> measured;
    for (const Entry& entry : m_entries) {
      if (!entry.valid) continue;
      expected.push_back(prior_mean(model_point(entry.config, entry.code).linear));
      measured.push_back(entry.objective);
    }
    if (m_entries.size() < m_prior_limit && rank_agreement(expected, measured) >= k_least_agreement) return;
    m_prior.reset();
    m_model.reset();
  }

  /// Learns anew when there is a fifth more to learn from, else only adds what is new.
  void update(const std::vector<double>& target) {
    if (!m_model || static_cast<double>(m_known) >= static_cast<double>(m_learnt) * m_settings.growth) {
      relearn(target);
    } else {
      for (; m_modelled < m_entries.size(); ++m_modelled) {
        const ModelPoint point = model_point(m_entries[m_modelled].config, m_entries[m_modelled].code);
        m_active.push_back(m_modelled);
        m_offset.push_back(prior_mean(point.linear));
        m_model->add(point);
      }
    }
    for (const std::size_t elite : elites(target)) add_neighbours(m_entries[elite].config);
    m_aim.clear();
    for (std::size_t i = 0; i < m_active.size(); ++i) m_aim.push_back(target[m_active[i]] - m_offset[i]);
    m_model->aim(m_aim);
  }

  [[nodiscard]] std::vector<std::size_t> elites(const std::vector<double>& target) const {
    std::vector<std::size_t> valid;
    for (std::size_t e = 0; e < m_entries.size(); ++e)
      if (m_entries[e].valid) valid.push_back(e);
    const std::size_t count = std::min(m_settings.elites, valid.size());
    std::partial_sort(
        valid.begin(), valid.begin() + static_cast<std::ptrdiff_t>(count), valid.end(),
        [&](std::size_t a, std::size_t b) { return target[a] != target[b] ? target[a] < target[b] : a < b; });
    valid.resize(count);
    return valid;
  }

  /// The better half and a random rest of `from`, at most `limit`.
  void thin(std::vector<std::size_t>& from, const std::vector<double>& target, std::size_t limit) {
    if (from.size() <= limit) return;
    std::stable_sort(from.begin(), from.end(),
                     [&](std::size_t a, std::size_t b) { return target[a] < target[b]; });
    for (std::size_t i = limit * 2 / 3; i < limit; ++i)
      std::swap(from[i], from[i + rng().below(from.size() - i)]);
    from.resize(limit);
  }

  void relearn(const std::vector<double>& target) {
    m_learnt = m_known;
    m_active.resize(m_entries.size());
    std::iota(m_active.begin(), m_active.end(), 0U);
    thin(m_active, target, k_most_points);
    std::vector<ModelPoint> points;
    m_offset.clear();
    m_aim.clear();
    for (const std::size_t e : m_active) {
      points.push_back(model_point(m_entries[e].config, m_entries[e].code));
      m_offset.push_back(prior_mean(points.back().linear));
      m_aim.push_back(target[e] - m_offset.back());
    }
    std::vector<std::size_t> fit;
    for (std::size_t i = 0; i < m_active.size(); ++i)
      if (m_entries[m_active[i]].valid) fit.push_back(i);
    thin(fit, m_aim, m_settings.model.fit_points);
    std::vector<space::Config> candidates = keep_best();
    if (!m_model) m_model.emplace(m_metric, m_prior ? m_prior->sources() : 0, m_settings.model);
    m_model->observe(std::move(points), m_aim, fit);
    m_modelled = m_entries.size();
    if (space().count() <= m_settings.pool) {
      space().for_each([&](const space::Config& config) {
        candidates.push_back(config);
        return true;
      });
    } else {
      for (std::size_t i = 0; i < m_settings.pool; ++i) candidates.push_back(space().sample(rng()));
      if (m_prior) candidates.insert(candidates.end(), m_prior_best.begin(), m_prior_best.end());
    }
    m_pool.clear();
    m_taken.clear();
    m_pool_offset.clear();
    m_in_pool.clear();
    m_opened.clear();
    add_candidates(candidates);
  }

  /// Those of the pool that the model likes most, optimistically.
  std::vector<space::Config> keep_best() {
    std::vector<std::size_t> order;
    if (!m_model) return {};
    for (std::size_t c = 0; c < m_pool.size(); ++c)
      if (!m_taken[c]) order.push_back(c);
    std::vector<double> value(m_pool.size());
    for (const std::size_t c : order) value[c] = m_pool_offset[c] + m_model->mean(c) - m_model->deviation(c);
    const std::size_t count = std::min(m_settings.keep, order.size());
    std::partial_sort(
        order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
        [&](std::size_t a, std::size_t b) { return value[a] != value[b] ? value[a] < value[b] : a < b; });
    std::vector<space::Config> kept;
    for (std::size_t i = 0; i < count; ++i) kept.push_back(m_pool[order[i]]);
    return kept;
  }

  void add_candidates(const std::vector<space::Config>& configs) {
    std::vector<ModelPoint> points;
    for (const space::Config& config : configs) {
      if (seen(config) || !m_in_pool.emplace(config, m_pool.size()).second) continue;
      m_pool.push_back(config);
      m_taken.push_back(false);
      points.push_back(model_point(config, m_metric.code(config)));
      m_pool_offset.push_back(prior_mean(points.back().linear));
    }
    m_model->add_candidates(points);
  }

  bool add_neighbours(const space::Config& config) {
    if (!m_opened.insert(config).second) return false;
    std::vector<space::Config> near = one_changed(space(), config, rng());
    if (near.size() > k_most_neighbours) {
      for (std::size_t i = 0; i < k_most_neighbours; ++i)
        std::swap(near[i], near[i + rng().below(near.size() - i)]);
      near.resize(k_most_neighbours);
    }
    const std::size_t before = m_pool.size();
    add_candidates(near);
    return m_pool.size() > before;
  }

  [[nodiscard]] double improvement(std::size_t candidate) const {
    if (m_taken[candidate]) return -1;
    const double gain =
        -(m_model->mean(candidate) + m_pool_offset[candidate]) - m_settings.margin * m_model->signal();
    const double deviation = m_model->deviation(candidate);
    const double z = gain / deviation;
    const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
    const double below = 0.5 * std::erfc(-z / std::numbers::sqrt2);
    // Far from any hope both terms vanish; the least bad comes first then.
    return std::max(0.0, gain * below + deviation * density) + 1e-12 / (1 + std::exp(-std::min(z, 0.0)));
  }

  std::optional<space::Config> most_promising() {
    judge_prior();
    update(targets());
    std::vector<double> score;
    std::size_t best = 0;
    for (std::size_t step = 0;; ++step) {
      if (score.size() < m_pool.size() && step > 0) m_model->predict_from(score.size());
      for (std::size_t c = score.size(); c < m_pool.size(); ++c) score.push_back(improvement(c));
      if (score.empty()) return std::nullopt;
      best = static_cast<std::size_t>(std::max_element(score.begin(), score.end()) - score.begin());
      if (space().count() <= m_settings.pool || step >= m_settings.climbs || !add_neighbours(m_pool[best]))
        break;
    }
    if (score[best] < 0) return std::nullopt;
    return m_pool[m_valid == m_known ? best : likeliest(score)];
  }

  /// Of the most promising points the one whose promise times chance of being valid is largest.
  [[nodiscard]] std::size_t likeliest(const std::vector<double>& score) const {
    std::vector<std::size_t> order(score.size());
    std::iota(order.begin(), order.end(), 0U);
    const std::size_t count = std::min(k_rated, order.size());
    std::partial_sort(
        order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
        [&](std::size_t a, std::size_t b) { return score[a] != score[b] ? score[a] > score[b] : a < b; });
    std::size_t chosen = order.front();
    double most = -1;
    for (std::size_t i = 0; i < count && score[order[i]] >= 0; ++i) {
      const double value = score[order[i]] * chance(m_pool[order[i]]);
      if (value <= most) continue;
      most = value;
      chosen = order[i];
    }
    return chosen;
  }

  [[nodiscard]] double chance(const space::Config& config) const {
    constexpr double k_optimism = 0.9;
    const Code code = m_metric.code(config);
    const double sharpness = m_settings.validity_sharpness * static_cast<double>(m_metric.dimensions());
    double weight = m_settings.validity_weight;
    double valid = k_optimism * weight;
    for (const std::size_t e : m_active) {
      if (!m_entries[e].known) continue;
      const double vote = std::exp(-sharpness * m_metric.distance(code, m_entries[e].code));
      weight += vote;
      if (m_entries[e].valid) valid += vote;
    }
    return valid / weight;
  }

  AutoSettings m_settings;
  Metric m_metric;
  std::size_t m_start;
  std::vector<Entry> m_entries;  ///< proposed or told, in that order
  std::unordered_map<space::Config, std::size_t, ConfigHash> m_place;
  std::size_t m_known = 0, m_valid = 0;

  std::optional<PriorModel> m_prior;
  std::vector<space::Config> m_prior_best;
  std::size_t m_prior_limit;

  std::optional<Gaussian> m_model;
  std::size_t m_learnt = 0;           ///< results at the last relearn()
  std::size_t m_modelled = 0;         ///< entries that the model was given
  std::vector<std::size_t> m_active;  ///< entry of each of the model's observations
  std::vector<double> m_offset;       ///< of those: what the prior expects
  std::vector<double> m_aim;
  std::vector<space::Config> m_pool;
  std::vector<double> m_pool_offset;
  std::vector<bool> m_taken;  ///< of the pool: proposed or told since it was drawn
  std::unordered_map<space::Config, std::size_t, ConfigHash> m_in_pool;
  ConfigSet m_opened;  ///< whose neighbours are in the pool
};

}  // namespace

std::unique_ptr<Strategy> make_auto_with(const space::Space& space, std::uint64_t seed, const Budget& budget,
                                         const Prior& prior, const AutoSettings& settings) {
  return std::make_unique<Auto>(space, seed, budget, prior, settings);
}

std::unique_ptr<Strategy> make_auto(const space::Space& space, std::uint64_t seed, const Budget& budget) {
  return make_auto_with(space, seed, budget, {}, {});
}

std::unique_ptr<Strategy> make_auto_with_prior(const space::Space& space, std::uint64_t seed,
                                               const Budget& budget, const Prior& prior) {
  return make_auto_with(space, seed, budget, prior, {});
}

}  // namespace tunesmith::search
