#include "search/features.h"

#include <algorithm>
#include <cmath>

namespace tunesmith::search {

namespace {

// Beyond this many columns a split rarely meets the one that matters.
constexpr std::size_t k_pair_limit = 16;

std::vector<float> ranks(const std::vector<double>& values) {
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  std::vector<float> rank;
  for (const double value : values) {
    const auto at = std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin();
    rank.push_back(static_cast<float>(at) / static_cast<float>(std::max<std::size_t>(1, values.size() - 1)));
  }
  return rank;
}

}  // namespace

Features::Features(const space::Space& space) {
  std::size_t logs = 0;
  for (std::size_t p = 0; p < space.parameters().size(); ++p) {
    const space::Parameter& parameter = space.parameters()[p];
    if (parameter.values.size() < 2) continue;
    const bool ordered = parameter.ordered();  // looks at every value
    Column column{p, ordered || parameter.values.size() == 2, {}, {}};
    std::vector<double> numbers;
    for (std::size_t v = 0; v < parameter.values.size(); ++v) {
      const auto number = space::number_of(parameter.values[v]);
      numbers.push_back(ordered && number ? *number : static_cast<double>(v));
    }
    column.rank = ranks(numbers);
    const bool positive =
        ordered && std::all_of(numbers.begin(), numbers.end(), [](double n) { return n > 0; });
    if (positive && logs < k_pair_limit) {
      ++logs;
      for (const double number : numbers) column.log.push_back(static_cast<float>(std::log2(number)));
    }
    m_width += column.ordered ? 1 : parameter.values.size();
    m_columns.push_back(std::move(column));
  }
  if (logs > 1) m_width += logs * (logs - 1);
}

void Features::append(const space::Config& config, std::vector<float>& out) const {
  const std::size_t begin = out.size();
  out.resize(begin + m_width);
  float* to = out.data() + begin;
  float logs[k_pair_limit];
  std::size_t count = 0;
  for (const Column& column : m_columns) {
    const std::uint32_t value = config.at[column.parameter];
    if (column.ordered) {
      *to++ = column.rank[value];
    } else {
      for (std::size_t v = 0; v < column.rank.size(); ++v) *to++ = v == value ? 1.0F : 0.0F;
    }
    if (!column.log.empty()) logs[count++] = column.log[value];
  }
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = i + 1; j < count; ++j) {
      *to++ = logs[i] + logs[j];
      *to++ = logs[i] - logs[j];
    }
  }
}

double Features::distance(const space::Config& a, const space::Config& b) const {
  double sum = 0;
  for (const Column& column : m_columns) {
    const std::uint32_t x = a.at[column.parameter];
    const std::uint32_t y = b.at[column.parameter];
    if (x == y) continue;
    // A change counts half even when the step is small: neighbours in a row are still different programs.
    sum += column.ordered ? 0.5 + 0.5 * std::fabs(column.rank[x] - column.rank[y]) : 1.0;
  }
  return m_columns.empty() ? 0 : sum / static_cast<double>(m_columns.size());
}

}  // namespace tunesmith::search
