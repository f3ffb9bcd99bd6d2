#include "search/prior.h"

#include <algorithm>
#include <cmath>

#include "search/proposer.h"
#include "search/strategies.h"
#include "stats/descriptive.h"

namespace tunesmith::search {

namespace {

// A forest over more points would cost seconds and hardly be better.
constexpr std::size_t k_most_points = 3000;
constexpr std::size_t k_trees = 20;
// Where the failures of a source stand among its valid points.
constexpr double k_failure_quantile = 0.9;

}  // namespace

PriorModel::PriorModel(const space::Space& space, const Prior& prior, std::uint64_t seed)
    : m_space(space), m_features(m_space) {
  Rng rng(derive_seed(seed, "prior"));
  double middles = 0;
  for (const std::vector<PriorPoint>& points : prior.sources) {
    std::vector<double> valid;
    for (const PriorPoint& point : points)
      if (point.valid && std::isfinite(point.objective) && m_space.legal(point.config))
        valid.push_back(point.objective);
    if (valid.empty()) continue;  // nothing but failures, or another space
    std::sort(valid.begin(), valid.end());
    const auto at = [&](double q) {
      // Rounded towards the slower end: of two points a failure is like the slower one.
      return valid[static_cast<std::size_t>(std::ceil(q * static_cast<double>(valid.size() - 1)))] -
             valid.front();
    };
    Source source;
    std::vector<const PriorPoint*> learnt;
    for (const PriorPoint& point : points) {
      if (!m_space.legal(point.config)) continue;
      const bool good = point.valid && std::isfinite(point.objective);
      const double slower = good ? point.objective - valid.front() : at(k_failure_quantile);
      if (source.known.emplace(point.config, static_cast<float>(slower)).second) learnt.push_back(&point);
    }
    middles += at(0.5);
    if (source.known.size() < m_space.count()) {
      rng.shuffle(learnt);
      learnt.resize(std::min(learnt.size(), k_most_points));
      std::vector<float> rows;
      std::vector<double> targets;
      for (const PriorPoint* point : learnt) {
        m_features.append(point->config, rows);
        targets.push_back(static_cast<double>(source.known.at(point->config)));
      }
      source.forest.fit(rows, m_features.width(), targets, k_trees, rng);
    }
    m_sources.push_back(std::move(source));
  }
  if (!m_sources.empty()) m_middle = std::max(middles / static_cast<double>(m_sources.size()), 1e-9);
}

std::vector<float> PriorModel::expected(const space::Config& config) const {
  std::vector<float> values;
  std::vector<float> row;
  for (const Source& source : m_sources) {
    const auto known = source.known.find(config);
    if (known != source.known.end()) {
      values.push_back(known->second);
      continue;
    }
    if (row.empty()) m_features.append(config, row);
    values.push_back(static_cast<float>(source.forest.predict(row).mean));
  }
  return values;
}

std::vector<space::Config> PriorModel::best(std::size_t limit) const {
  struct Rated {
    double slower;
    const space::Config* config;
  };
  std::vector<Rated> rated;
  for (std::size_t s = 0; s < m_sources.size(); ++s) {
    for (const auto& [config, slower] : m_sources[s].known) {
      bool earlier = false;
      for (std::size_t other = 0; other < s && !earlier; ++other)
        earlier = m_sources[other].known.contains(config);
      if (earlier) continue;
      double sum = 0;
      for (const float value : expected(config)) sum += static_cast<double>(value);
      rated.push_back({sum, &config});
    }
  }
  // Ties by configuration: the order of a hash table must not show.
  std::sort(rated.begin(), rated.end(), [](const Rated& a, const Rated& b) {
    return a.slower != b.slower ? a.slower < b.slower : *a.config < *b.config;
  });
  std::vector<space::Config> list;
  for (std::size_t i = 0; i < std::min(limit, rated.size()); ++i) list.push_back(*rated[i].config);
  return list;
}

double rank_agreement(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> x = stats::ranks(a);
  const std::vector<double> y = stats::ranks(b);
  const double middle = (static_cast<double>(a.size()) + 1) / 2;
  double both = 0;
  double of_x = 0;
  double of_y = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    both += (x[i] - middle) * (y[i] - middle);
    of_x += (x[i] - middle) * (x[i] - middle);
    of_y += (y[i] - middle) * (y[i] - middle);
  }
  return of_x > 0 && of_y > 0 ? both / std::sqrt(of_x * of_y) : 0;
}

}  // namespace tunesmith::search
