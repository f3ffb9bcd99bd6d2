// These loops are what a proposal costs. Release builds use -O2, at which g++ leaves them scalar.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#include "search/gaussian.h"

#include <algorithm>
#include <cmath>

#include "search/fast_exp.h"

namespace tunesmith::search {

namespace {

constexpr double k_jitter = 1e-6;  // keeps the factor real where two points are one to the metric
constexpr double k_least_signal = 1e-9;
constexpr float k_least_variance = 1e-6F;

}  // namespace

Gaussian::Gaussian(const Metric& metric, std::size_t linear, const GaussianSettings& settings)
    : m_metric(metric), m_settings(settings), m_linear(linear) {
  const auto dimensions = static_cast<double>(std::max<std::size_t>(1, metric.dimensions()));
  m_prior_relevance = -2 * std::log(settings.length * std::sqrt(dimensions));
  m_relevance.assign(metric.dimensions(), m_prior_relevance);
  m_relevance.push_back(std::log(settings.noise));
  weigh();
  m_codes.resize(metric.dimensions());
  m_features.resize(linear);
}

void Gaussian::weigh() {
  m_weighted.resize(m_metric.dimensions());
  for (std::size_t d = 0; d < m_weighted.size(); ++d) {
    m_weighted[d] = m_metric.table(d);
    const auto weight = static_cast<float>(std::exp(m_relevance[d]));
    for (float& value : m_weighted[d]) value *= weight;
  }
}

float Gaussian::kernel(float squared) const {
  if (m_settings.smoothness == Smoothness::matern32) {
    const float r = std::sqrt(3 * squared);
    return (1 + r) * fast_exp(-r);
  }
  const float r = std::sqrt(5 * squared);
  return (1 + r + r * r / 3) * fast_exp(-r);
}

float Gaussian::squared(const Code& a, const Code& b) const {
  float sum = 0;
  for (std::size_t d = 0; d < a.size(); ++d) sum += m_weighted[d][a[d] * m_metric.cells(d) + b[d]];
  return sum;
}

double Gaussian::linear(const ModelPoint& a, const ModelPoint& b) const {
  double sum = 0;
  for (std::size_t f = 0; f < m_linear; ++f)
    sum += static_cast<double>(a.linear[f]) * static_cast<double>(b.linear[f]);
  return m_settings.linear_variance * sum;
}

void Gaussian::reserve(std::size_t observations) {
  if (observations <= m_stride) return;
  const std::size_t stride = std::max<std::size_t>(256, 2 * observations);
  std::vector<double> factor(stride * stride, 0);
  for (std::size_t row = 0; row < m_whitened.size(); ++row)
    std::copy_n(&m_factor[row * m_stride], row + 1, &factor[row * stride]);
  m_factor = std::move(factor);
  m_stride = stride;
}

void Gaussian::factor(std::size_t row) {
  double* line = &m_factor[row * m_stride];
  const ModelPoint& point = m_points[row];
  double left = 1 + std::exp(m_relevance.back()) + k_jitter + linear(point, point);
  for (std::size_t j = 0; j < row; ++j) {
    const double* other = &m_factor[j * m_stride];
    double sum =
        static_cast<double>(kernel(squared(point.code, m_points[j].code))) + linear(point, m_points[j]);
    for (std::size_t k = 0; k < j; ++k) sum -= line[k] * other[k];
    line[j] = sum / other[j];
    left -= line[j] * line[j];
  }
  line[row] = std::sqrt(std::max(left, k_jitter));
}

void Gaussian::observe(std::vector<ModelPoint> points, std::span<const double> targets,
                       std::span<const std::size_t> chosen) {
  m_points = std::move(points);
  fit(targets, chosen);
  m_whitened.clear();
  reserve(m_points.size());
  for (std::size_t row = 0; row < m_points.size(); ++row) factor(row);
  m_whitened.assign(m_points.size(), 0);
  m_count = 0;
}

void Gaussian::add(const ModelPoint& point) {
  reserve(m_points.size() + 1);
  m_points.push_back(point);
  factor(m_points.size() - 1);
  m_whitened.push_back(0);
  fill(m_points.size() - 1, 0, m_count);
}

void Gaussian::grow(std::size_t capacity) {
  m_capacity = capacity;
  for (auto& column : m_codes) column.resize(capacity);
  for (auto& column : m_features) column.resize(capacity);
  for (auto& row : m_rows) row.resize(capacity);
  m_mean.resize(capacity);
  m_variance.resize(capacity);
}

void Gaussian::add_candidates(std::span<const ModelPoint> points) {
  const std::size_t begin = m_count;
  if (begin + points.size() > m_capacity) grow((begin + points.size()) * 3 / 2);
  for (const ModelPoint& point : points) {
    for (std::size_t d = 0; d < m_codes.size(); ++d) m_codes[d][m_count] = point.code[d];
    for (std::size_t f = 0; f < m_linear; ++f) m_features[f][m_count] = point.linear[f];
    m_variance[m_count] = static_cast<float>(1 + linear(point, point));
    ++m_count;
  }
  for (std::size_t row = 0; row < m_points.size(); ++row) fill(row, begin, m_count);
}

/// One row of factor^-1 x covariance for some candidates. The plain loops over candidates are what compilers
/// turn into vector code.
void Gaussian::fill(std::size_t row, std::size_t begin, std::size_t end) {
  if (m_rows.size() <= row) m_rows.resize(row + 1);
  if (m_rows[row].size() < m_capacity) m_rows[row].resize(m_capacity);
  float* out = m_rows[row].data();
  const ModelPoint& point = m_points[row];
  std::fill(out + begin, out + end, 0.0F);
  for (std::size_t d = 0; d < m_codes.size(); ++d) {
    const float* table = &m_weighted[d][point.code[d] * m_metric.cells(d)];
    const std::uint16_t* codes = m_codes[d].data();
    for (std::size_t c = begin; c < end; ++c) out[c] += table[codes[c]];
  }
  for (std::size_t c = begin; c < end; ++c) out[c] = kernel(out[c]);
  for (std::size_t f = 0; f < m_linear; ++f) {
    const float weight = static_cast<float>(m_settings.linear_variance) * point.linear[f];
    const float* feature = m_features[f].data();
    for (std::size_t c = begin; c < end; ++c) out[c] += weight * feature[c];
  }
  const double* line = &m_factor[row * m_stride];
  for (std::size_t j = 0; j < row; ++j) {
    const auto weight = static_cast<float>(line[j]);
    const float* earlier = m_rows[j].data();
    for (std::size_t c = begin; c < end; ++c) out[c] -= weight * earlier[c];
  }
  const auto inverse = static_cast<float>(1 / line[row]);
  float* variance = m_variance.data();
  for (std::size_t c = begin; c < end; ++c) {
    out[c] *= inverse;
    variance[c] -= out[c] * out[c];
  }
}

void Gaussian::aim(std::span<const double> targets) {
  m_target_mean = 0;
  for (const double target : targets) m_target_mean += target / static_cast<double>(targets.size());
  double squares = 0;
  for (std::size_t row = 0; row < m_points.size(); ++row) {
    const double* line = &m_factor[row * m_stride];
    double sum = targets[row] - m_target_mean;
    for (std::size_t k = 0; k < row; ++k) sum -= line[k] * m_whitened[k];
    m_whitened[row] = sum / line[row];
    squares += m_whitened[row] * m_whitened[row];
  }
  // As if one more point of unit variance had been seen: two lucky first points do not make it certain.
  m_signal = std::max((squares + 1) / (static_cast<double>(m_points.size()) + 1), k_least_signal);
  predict_from(0);
}

void Gaussian::predict_from(std::size_t begin) {
  float* mean = m_mean.data();
  for (std::size_t c = begin; c < m_count; ++c) mean[c] = static_cast<float>(m_target_mean);
  for (std::size_t row = 0; row < m_points.size(); ++row) {
    const auto weight = static_cast<float>(m_whitened[row]);
    const float* values = m_rows[row].data();
    for (std::size_t c = begin; c < m_count; ++c) mean[c] += weight * values[c];
  }
}

double Gaussian::deviation(std::size_t candidate) const {
  return std::sqrt(static_cast<double>(std::max(m_variance[candidate], k_least_variance)) * m_signal);
}

double Gaussian::signal() const { return std::sqrt(m_signal); }

}  // namespace tunesmith::search
