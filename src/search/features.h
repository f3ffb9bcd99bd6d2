// A configuration as numbers for a model: each parameter's rank (one column a value where there is no order),
// and for each two positive parameters their product and ratio on a log scale, since work per thread and
// memory per block are products.
#pragma once

#include <span>
#include <vector>

#include "space/space.h"

namespace tunesmith::search {

class Features {
 public:
  explicit Features(const space::Space& space);
  [[nodiscard]] std::size_t width() const { return m_width; }
  /// Appends width() numbers.
  void append(const space::Config& config, std::vector<float>& out) const;
  /// Parameters that have a choice at all.
  [[nodiscard]] std::size_t dimensions() const { return m_columns.size(); }
  /// 0 for equal, 1 for unlike in everything: mean over parameters of the step in rank (0 or 1 without an
  /// order).
  [[nodiscard]] double distance(const space::Config& a, const space::Config& b) const;

 private:
  struct Column {
    std::size_t parameter;
    bool ordered;
    std::vector<float> rank;  ///< of each value, 0 to 1; without an order the position
    std::vector<float> log;   ///< log2 of each value; empty unless all are positive numbers
  };
  std::vector<Column> m_columns;
  std::size_t m_width = 0;
};

}  // namespace tunesmith::search
