// The decision diagram behind a Space: one level a parameter, one edge a value; an edge that leads nowhere
// legal is 0. A node is a set of sub-spaces that are equal because every constraint still open has the same
// rest.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "space/compare.h"
#include "space/expression.h"
#include "space/space.h"

namespace tunesmith::space {

class LevelledDiagram {
 public:
  using Id = std::uint32_t;
  static constexpr Id k_dead = 0, k_end = 1;

  struct Built {
    bool too_large = false;
    std::string note;
  };
  /// `cells[p][v]` is value v of parameter p.
  Built build(const std::vector<std::vector<Cell>>& cells, std::span<const Expression> constraints,
              const std::vector<Parameter>& parameters, std::uint64_t limit);

  /// The sub-spaces of exactly these points: sorted, each once, at least one, all of them within `widths`.
  void build_points(const std::vector<std::uint32_t>& widths, std::span<const Config> points);

  [[nodiscard]] Id root() const { return m_root; }
  [[nodiscard]] std::size_t levels() const { return m_widths.size(); }
  [[nodiscard]] std::uint32_t width(std::size_t level) const { return m_widths[level]; }
  [[nodiscard]] Id child(Id node, std::uint32_t value) const { return m_children[m_first[node] + value]; }
  [[nodiscard]] std::uint64_t count(Id node) const { return m_counts[node]; }
  /// Legal configurations below the values before this one.
  [[nodiscard]] std::uint64_t before(Id node, std::uint32_t value) const {
    return m_before[m_first[node] + value];
  }
  [[nodiscard]] double weight(Id node) const {
    return m_weights.empty() ? static_cast<double>(m_counts[node]) : m_weights[node];
  }
  [[nodiscard]] std::size_t size() const { return m_first.size(); }
  /// Children have smaller ids than their parents: a loop by id is a pass from the bottom up.
  [[nodiscard]] std::uint32_t level(Id node) const { return m_levels[node]; }
  [[nodiscard]] bool saturated() const;

 private:
  friend class DiagramBuilder;
  friend class PointBuilder;
  /// A new node with these edges.
  Id append(std::size_t level, std::span<const Id> edges);
  void finish();

  Id m_root = k_dead;
  std::vector<std::uint32_t> m_widths;
  std::vector<std::uint64_t> m_first;  ///< of a node: its first edge
  std::vector<std::uint32_t> m_levels;
  std::vector<Id> m_children;
  std::vector<std::uint64_t> m_before;
  std::vector<std::uint64_t> m_counts;
  std::vector<double> m_weights;  ///< counts as reals, kept only when counts saturate
};

}  // namespace tunesmith::space
