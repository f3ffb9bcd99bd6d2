// A Gaussian process over configurations (Rasmussen and Williams 2006) with a Matern kernel over a Metric,
// one relevance per parameter, and, where a prior gives them, linear features. It keeps a pool of candidate
// points whose means and deviations follow each new observation at a cost of pool x observations, so that
// proposing stays far below a millisecond. Observations carry one constant target mean; failures are the
// caller's business.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "search/metric.h"

namespace tunesmith::search {

enum class Smoothness { matern32, matern52 };

struct GaussianSettings {
  Smoothness smoothness = Smoothness::matern52;
  /// Prior of the length scales: log-normal around `length` x sqrt(dimensions), since distances add up over
  /// the dimensions; the spread is of the log of 1 / length squared.
  double length = 0.6;
  double length_spread = 1.6;
  /// Prior of the noise's variance, as a share of the signal's: log-normal.
  double noise = 0.01;
  double noise_spread = 1.0;
  int steps = 10;                ///< ascents of the likelihood in one fit
  std::size_t fit_points = 80;   ///< a fit costs their number cubed
  double linear_variance = 0.3;  ///< of a linear feature's weight
};

/// A point as the model sees it.
struct ModelPoint {
  Code code;
  std::vector<float> linear;  ///< as many for every point; none without a prior
};

class Gaussian {
 public:
  Gaussian(const Metric& metric, std::size_t linear, const GaussianSettings& settings);

  /// Replaces all observations and forgets the pool. `fit` names the observations to learn the relevances
  /// from; fewer than four leave them alone.
  void observe(std::vector<ModelPoint> points, std::span<const double> targets,
               std::span<const std::size_t> fit);
  /// One more, whose target comes with the next aim().
  void add(const ModelPoint& point);
  [[nodiscard]] std::size_t size() const { return m_points.size(); }

  void add_candidates(std::span<const ModelPoint> points);
  [[nodiscard]] std::size_t candidates() const { return m_count; }

  /// Sets the target of every observation; then predicts for the whole pool.
  void aim(std::span<const double> targets);
  /// Predicts for the candidates from `begin` on, with the targets of the last aim().
  void predict_from(std::size_t begin);
  [[nodiscard]] double mean(std::size_t candidate) const { return static_cast<double>(m_mean[candidate]); }
  [[nodiscard]] double deviation(std::size_t candidate) const;
  /// The scale of deviations: the signal's own.
  [[nodiscard]] double signal() const;

 private:
  [[nodiscard]] float kernel(float squared) const;
  [[nodiscard]] double slope(double squared) const;  ///< of kernel()
  [[nodiscard]] float squared(const Code& a, const Code& b) const;
  [[nodiscard]] double linear(const ModelPoint& a, const ModelPoint& b) const;
  void weigh();
  void fit(std::span<const double> targets, std::span<const std::size_t> chosen);
  struct Likelihood;
  void gradient(Likelihood& at, std::span<const std::size_t> chosen) const;
  void reserve(std::size_t observations);
  void factor(std::size_t row);
  void fill(std::size_t row, std::size_t begin, std::size_t end);
  void grow(std::size_t capacity);

  const Metric& m_metric;
  GaussianSettings m_settings;
  std::size_t m_linear;
  double m_prior_relevance = 0;
  std::vector<double> m_relevance;  ///< log of 1 / length squared, by dimension; the last is log noise
  std::vector<std::vector<float>> m_weighted;  ///< the metric's tables times the relevance

  std::vector<ModelPoint> m_points;
  std::size_t m_stride = 0;
  std::vector<double> m_factor;  ///< lower Cholesky factor, row by row
  std::vector<double> m_whitened;
  double m_target_mean = 0, m_signal = 1;

  // The pool, column-wise: candidates run fastest in every array.
  std::size_t m_count = 0, m_capacity = 0;
  std::vector<std::vector<std::uint16_t>> m_codes;
  std::vector<std::vector<float>> m_features;
  std::vector<std::vector<float>> m_rows;  ///< factor^-1 x covariance with each observation
  std::vector<float> m_mean, m_variance;   ///< variance left, as a share of the signal's
};

}  // namespace tunesmith::search
