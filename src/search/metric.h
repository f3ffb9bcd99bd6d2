// How unlike two configurations are, parameter by parameter, before a model has learnt which parameters
// matter. A numeric parameter counts by position (half by rank, half on a log scale where all values are
// positive), with a small jump for any change at all and one for how often 2 divides the value, since widths
// and alignments come in powers of two. Without an order, every change is 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "space/space.h"

namespace tunesmith::search {

struct MetricSettings {
  double jump = 0.03;       ///< share of a squared distance that any change of a number has, 0 to 1
  double alignment = 0.15;  ///< share that comes from the powers of two in a whole number, 0 to 1
  double rank = 0.5;        ///< 1: position by rank alone; 0: by log (or value) alone
};

/// A configuration in the metric's terms: for each parameter with a choice, which cell of its table.
using Code = std::vector<std::uint16_t>;

class Metric {
 public:
  /// Values are gathered in at most this many cells a parameter, so that tables stay small.
  static constexpr std::size_t k_cells = 256;

  explicit Metric(const space::Space& space, const MetricSettings& settings = {});
  [[nodiscard]] std::size_t dimensions() const { return m_columns.size(); }
  [[nodiscard]] std::size_t cells(std::size_t dimension) const { return m_columns[dimension].cells; }
  [[nodiscard]] Code code(const space::Config& config) const;
  /// Squared distance in one dimension, 0 to 1: cells x cells, row by row.
  [[nodiscard]] const std::vector<float>& table(std::size_t dimension) const {
    return m_columns[dimension].table;
  }
  /// Mean squared distance over the dimensions, 0 to 1.
  [[nodiscard]] double distance(const Code& a, const Code& b) const;

 private:
  struct Column {
    std::size_t parameter = 0;
    std::size_t values = 0;
    std::size_t cells = 0;
    std::vector<float> table;
  };
  std::vector<Column> m_columns;
};

}  // namespace tunesmith::search
