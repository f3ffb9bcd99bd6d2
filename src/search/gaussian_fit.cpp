// The relevances of a Gaussian: maximum a posteriori, by sign-driven ascent (iRprop-, Igel and Huesken 2000),
// with the signal's variance profiled out.
#include <algorithm>
#include <cmath>

#include "search/gaussian.h"

namespace tunesmith::search {

namespace {

constexpr double k_jitter = 1e-6;
constexpr std::size_t k_least_points = 4;  // fewer say nothing about lengths
// Steps of the ascent, in logs.
constexpr double k_first_step = 0.3, k_longest_step = 1.0;
constexpr double k_faster = 1.3, k_slower = 0.5;
// Where relevance (1 / length squared) and noise stay, in logs.
constexpr double k_least_relevance = -9, k_most_relevance = 7;
const double k_least_noise = std::log(1e-4), k_most_noise = std::log(0.5);

}  // namespace

/// Square matrices of the chosen points, row by row, lower halves.
struct Gaussian::Likelihood {
  std::size_t n;
  std::vector<double> squared, factor, inverse, precision;
  std::vector<double> targets;  ///< around their mean
  std::vector<double> alpha;    ///< precision x targets
  double signal = 1;
  std::vector<double> gradient;

  explicit Likelihood(std::size_t points)
      : n(points), squared(n * n), factor(n * n), inverse(n * n), precision(n * n), alpha(n) {}

  void decompose() {
    for (std::size_t i = 0; i < n; ++i) {
      double* line = &factor[i * n];
      for (std::size_t j = 0; j <= i; ++j) {
        const double* other = &factor[j * n];
        double sum = line[j];
        for (std::size_t k = 0; k < j; ++k) sum -= line[k] * other[k];
        line[j] = i == j ? std::sqrt(std::max(sum, 1e-10)) : sum / other[j];
      }
    }
  }

  void invert() {
    std::fill(inverse.begin(), inverse.end(), 0.0);
    std::fill(precision.begin(), precision.end(), 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      double* line = &inverse[i * n];
      line[i] = 1;
      for (std::size_t k = 0; k < i; ++k) {
        const double weight = factor[i * n + k];
        const double* other = &inverse[k * n];
        for (std::size_t j = 0; j <= k; ++j) line[j] -= weight * other[j];
      }
      for (std::size_t j = 0; j <= i; ++j) line[j] /= factor[i * n + i];
    }
    for (std::size_t k = 0; k < n; ++k) {
      const double* line = &inverse[k * n];
      for (std::size_t i = 0; i <= k; ++i)
        for (std::size_t j = 0; j <= i; ++j) precision[i * n + j] += line[i] * line[j];
    }
  }

  void solve() {
    double squares = 0;
    std::fill(alpha.begin(), alpha.end(), 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      const double* line = &inverse[i * n];
      double white = 0;
      for (std::size_t j = 0; j <= i; ++j) white += line[j] * targets[j];
      for (std::size_t j = 0; j <= i; ++j) alpha[j] += line[j] * white;
      squares += white * white;
    }
    signal = std::max(squares / static_cast<double>(n), 1e-12);
  }
};

double Gaussian::slope(double squared) const {
  if (m_settings.smoothness == Smoothness::matern32) return -1.5 * std::exp(-std::sqrt(3 * squared));
  const double r = std::sqrt(5 * squared);
  return -5.0 / 6.0 * (1 + r) * std::exp(-r);
}

void Gaussian::gradient(Likelihood& at, std::span<const std::size_t> chosen) const {
  const std::size_t n = at.n;
  const double noise = std::exp(m_relevance.back());
  for (std::size_t i = 0; i < n; ++i) {
    const ModelPoint& point = m_points[chosen[i]];
    for (std::size_t j = 0; j < i; ++j) {
      const ModelPoint& other = m_points[chosen[j]];
      const float distance = squared(point.code, other.code);
      at.squared[i * n + j] = static_cast<double>(distance);
      at.factor[i * n + j] = static_cast<double>(kernel(distance)) + linear(point, other);
    }
    at.factor[i * n + i] = 1 + noise + k_jitter + linear(point, point);
  }
  at.decompose();
  at.invert();
  at.solve();
  std::fill(at.gradient.begin(), at.gradient.end(), 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    const Code& code = m_points[chosen[i]].code;
    for (std::size_t j = 0; j < i; ++j) {
      const Code& other = m_points[chosen[j]].code;
      const double pull =
          (at.alpha[i] * at.alpha[j] / at.signal - at.precision[i * n + j]) * slope(at.squared[i * n + j]);
      for (std::size_t d = 0; d < code.size(); ++d)
        at.gradient[d] += pull * static_cast<double>(m_weighted[d][code[d] * m_metric.cells(d) + other[d]]);
    }
    at.gradient.back() += 0.5 * (at.alpha[i] * at.alpha[i] / at.signal - at.precision[i * n + i]) * noise;
  }
  const double spread = m_settings.length_spread * m_settings.length_spread;
  for (std::size_t d = 0; d + 1 < at.gradient.size(); ++d)
    at.gradient[d] -= (m_relevance[d] - m_prior_relevance) / spread;
  at.gradient.back() -=
      (m_relevance.back() - std::log(m_settings.noise)) / (m_settings.noise_spread * m_settings.noise_spread);
}

void Gaussian::fit(std::span<const double> targets, std::span<const std::size_t> chosen) {
  if (chosen.size() < k_least_points) return;
  Likelihood at(chosen.size());
  double mean = 0;
  for (const std::size_t i : chosen) mean += targets[i] / static_cast<double>(chosen.size());
  for (const std::size_t i : chosen) at.targets.push_back(targets[i] - mean);
  at.gradient.assign(m_relevance.size(), 0);
  std::vector<double> step(m_relevance.size(), k_first_step);
  std::vector<double> before(m_relevance.size(), 0);
  for (int round = 0; round < m_settings.steps; ++round) {
    gradient(at, chosen);
    for (std::size_t p = 0; p < m_relevance.size(); ++p) {
      const double turn = at.gradient[p] * before[p];
      if (turn > 0) step[p] = std::min(step[p] * k_faster, k_longest_step);
      if (turn < 0) step[p] *= k_slower;
      const double along = turn < 0 ? 0 : at.gradient[p];
      if (along != 0) m_relevance[p] += along > 0 ? step[p] : -step[p];
      before[p] = along;
      m_relevance[p] = p + 1 < m_relevance.size()
                           ? std::clamp(m_relevance[p], k_least_relevance, k_most_relevance)
                           : std::clamp(m_relevance[p], k_least_noise, k_most_noise);
    }
    weigh();
  }
}

}  // namespace tunesmith::search
