#include "search/forest.h"

#include <algorithm>
#include <cmath>

namespace tunesmith::search {

namespace {

// Two points are a leaf: measurements carry noise, and one point is no evidence against its neighbour.
constexpr std::size_t k_smallest_split = 3;

// Keeps a fit over 200 columns (13 parameters with their products and ratios) at a few milliseconds.
constexpr std::size_t k_most_tried = 24;

struct Split {
  std::uint32_t feature = 0;
  float threshold = 0;
  double gain = -1;
};

}  // namespace

struct Forest::Growth {
  std::vector<float>
      columns;        ///< feature by feature: a split reads one of them, which stays in the nearest cache
  std::size_t total;  ///< points
  std::span<const double> targets;
  Rng& rng;
  std::size_t tried;                    ///< features tried for a split
  std::vector<std::uint32_t> points;    ///< of the tree under way, in the order of its leaves
  std::vector<std::uint32_t> features;  ///< shuffled anew for each split

  [[nodiscard]] float at(std::uint32_t point, std::uint32_t feature) const {
    return columns[feature * total + point];
  }

  [[nodiscard]] double mean(std::size_t begin, std::size_t end) const {
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += targets[points[i]];
    return sum / static_cast<double>(end - begin);
  }

  /// Sum of squares between the two sides: the larger, the more the split explains.
  [[nodiscard]] Split draw(std::uint32_t feature, std::size_t begin, std::size_t end) {
    float low = at(points[begin], feature);
    float high = low;
    for (std::size_t i = begin + 1; i < end; ++i) {
      low = std::min(low, at(points[i], feature));
      high = std::max(high, at(points[i], feature));
    }
    if (!(low < high)) return {};
    Split split{feature, low + static_cast<float>(rng.uniform()) * (high - low), -1};
    if (!(split.threshold < high)) split.threshold = low;  // rounding must leave the right side a point
    double sum[2] = {0, 0};
    double count[2] = {0, 0};
    for (std::size_t i = begin; i < end; ++i) {
      const int side = at(points[i], feature) > split.threshold ? 1 : 0;
      sum[side] += targets[points[i]];
      count[side] += 1;
    }
    const double apart = sum[0] / count[0] - sum[1] / count[1];
    split.gain = apart * apart * count[0] * count[1];
    return split;
  }

  [[nodiscard]] Split best(std::size_t begin, std::size_t end) {
    Split chosen;
    std::size_t counted = 0;
    for (std::size_t i = 0; i < features.size() && counted < tried; ++i) {
      std::swap(features[i], features[i + rng.below(features.size() - i)]);
      const Split split = draw(features[i], begin, end);
      if (split.gain < 0) continue;  // constant here: does not count as a try
      ++counted;
      if (split.gain > chosen.gain) chosen = split;
    }
    return chosen;
  }
};

void Forest::grow(Growth& growth, std::size_t begin, std::size_t end) {
  const std::size_t index = m_nodes.size();
  m_nodes.push_back({k_leaf, 0, 0, static_cast<float>(growth.mean(begin, end))});
  if (end - begin < k_smallest_split) return;
  const Split split = growth.best(begin, end);
  if (!(split.gain > 0)) return;
  const auto middle =
      std::partition(growth.points.begin() + static_cast<std::ptrdiff_t>(begin),
                     growth.points.begin() + static_cast<std::ptrdiff_t>(end),
                     [&](std::uint32_t point) { return growth.at(point, split.feature) <= split.threshold; });
  const auto cut = static_cast<std::size_t>(middle - growth.points.begin());
  m_nodes[index].feature = split.feature;
  m_nodes[index].threshold = split.threshold;
  grow(growth, begin, cut);
  m_nodes[index].right = static_cast<std::uint32_t>(m_nodes.size());
  grow(growth, cut, end);
}

void Forest::fit(std::span<const float> rows, std::size_t width, std::span<const double> targets,
                 std::size_t trees, Rng& rng) {
  m_nodes.clear();
  m_roots.clear();
  if (targets.empty()) return;
  const std::size_t tried = std::clamp<std::size_t>(width / 2, 1, k_most_tried);
  Growth growth{std::vector<float>(rows.size()), targets.size(), targets, rng, tried, {}, {}};
  for (std::size_t point = 0; point < targets.size(); ++point)
    for (std::size_t feature = 0; feature < width; ++feature)
      growth.columns[feature * targets.size() + point] = rows[point * width + feature];
  for (std::uint32_t feature = 0; feature < width; ++feature) growth.features.push_back(feature);
  for (std::uint32_t point = 0; point < targets.size(); ++point) growth.points.push_back(point);
  for (std::size_t tree = 0; tree < trees; ++tree) {
    m_roots.push_back(static_cast<std::uint32_t>(m_nodes.size()));
    grow(growth, 0, targets.size());
  }
}

Prediction Forest::predict(std::span<const float> row) const {
  double sum = 0;
  double squares = 0;
  for (std::uint32_t node : m_roots) {
    while (m_nodes[node].feature != k_leaf)
      node = row[m_nodes[node].feature] <= m_nodes[node].threshold ? node + 1 : m_nodes[node].right;
    sum += m_nodes[node].value;
    squares += static_cast<double>(m_nodes[node].value) * m_nodes[node].value;
  }
  const double count = static_cast<double>(m_roots.size());
  const double mean = sum / count;
  return {mean, std::sqrt(std::max(0.0, squares / count - mean * mean))};
}

}  // namespace tunesmith::search
