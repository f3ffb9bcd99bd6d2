#include "search/metric.h"

#include <algorithm>
#include <cmath>

namespace tunesmith::search {

namespace {

std::size_t cell_of(std::size_t value, std::size_t values, std::size_t cells) {
  return values <= cells ? value : value * cells / values;
}

/// Where each number stands between the smallest (0) and the largest (1).
std::vector<double> positions(const std::vector<double>& numbers, double rank_share) {
  std::vector<double> sorted = numbers;
  std::sort(sorted.begin(), sorted.end());
  const double low = sorted.front();
  const double high = sorted.back();
  std::vector<double> result;
  for (const double number : numbers) {
    const auto below = std::lower_bound(sorted.begin(), sorted.end(), number) - sorted.begin();
    const double rank = static_cast<double>(below) / static_cast<double>(numbers.size() - 1);
    double scaled = low > 0 ? std::log(number / low) / std::log(high / low)
                            : (number / 2 - low / 2) / (high / 2 - low / 2);  // halves: no overflow
    if (!std::isfinite(scaled)) scaled = rank;
    result.push_back(rank_share * rank + (1 - rank_share) * scaled);
  }
  return result;
}

/// How often 2 divides each number, as a share of the largest such count; all 0 unless all are whole.
std::vector<double> alignments(const std::vector<double>& numbers) {
  constexpr int k_most = 6;  // beyond 64 nothing in hardware asks for more
  std::vector<double> result(numbers.size(), 0);
  double largest = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double number = std::fabs(numbers[i]);
    if (number != std::floor(number) || number > 9e15) return std::vector<double>(numbers.size(), 0);
    auto whole = static_cast<std::uint64_t>(number);
    while (whole != 0 && whole % 2 == 0 && result[i] < k_most) {
      whole /= 2;
      ++result[i];
    }
    largest = std::max(largest, result[i]);
  }
  if (largest > 0)
    for (double& value : result) value /= largest;
  return result;
}

}  // namespace

Metric::Metric(const space::Space& space, const MetricSettings& settings) {
  for (std::size_t p = 0; p < space.parameters().size(); ++p) {
    const space::Parameter& parameter = space.parameters()[p];
    const std::size_t values = parameter.values.size();
    if (values < 2) continue;
    Column column{p, values, std::min(values, k_cells), {}};
    column.table.assign(column.cells * column.cells, 1.0F);
    for (std::size_t a = 0; a < column.cells; ++a) column.table[a * column.cells + a] = 0;
    if (parameter.ordered()) {
      std::vector<double> numbers(column.cells);  // the first value of each cell stands for all in it
      for (std::size_t v = values; v-- > 0;)
        numbers[cell_of(v, values, column.cells)] = space::number_of(parameter.values[v]).value_or(0);
      const std::vector<double> at = positions(numbers, settings.rank);
      const std::vector<double> aligned = alignments(numbers);
      const double alignment = values > 2 ? settings.alignment : 0;
      const double slope = 1 - settings.jump - alignment;
      for (std::size_t a = 0; a < column.cells; ++a) {
        for (std::size_t b = 0; b < column.cells; ++b) {
          if (a == b) continue;
          const double step = at[a] - at[b];
          const double turn = aligned[a] - aligned[b];
          column.table[a * column.cells + b] =
              static_cast<float>(slope * step * step + alignment * turn * turn + settings.jump);
        }
      }
    }
    m_columns.push_back(std::move(column));
  }
}

Code Metric::code(const space::Config& config) const {
  Code code;
  code.reserve(m_columns.size());
  for (const Column& column : m_columns)
    code.push_back(
        static_cast<std::uint16_t>(cell_of(config.at[column.parameter], column.values, column.cells)));
  return code;
}

double Metric::distance(const Code& a, const Code& b) const {
  double sum = 0;
  for (std::size_t d = 0; d < m_columns.size(); ++d)
    sum += static_cast<double>(m_columns[d].table[a[d] * m_columns[d].cells + b[d]]);
  return m_columns.empty() ? 0 : sum / static_cast<double>(m_columns.size());
}

}  // namespace tunesmith::search
