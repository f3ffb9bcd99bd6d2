#include "space/diagram.h"

#include <fmt/format.h>

#include <bit>
#include <limits>

#include "base/hash.h"
#include "space/expression_program.h"

namespace tunesmith::space {

namespace {

constexpr std::uint64_t k_most = std::numeric_limits<std::uint64_t>::max();

std::uint64_t add_saturating(std::uint64_t a, std::uint64_t b) { return b > k_most - a ? k_most : a + b; }

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93ULL;
  x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93ULL;
  return x ^ (x >> 32);
}

/// 96 bits of two independent hashes stand for a key: with 20 million keys a collision has a chance below
/// 1e-14.
struct Fingerprint {
  std::uint64_t a = 0x9E3779B97F4A7C15ULL, b = 0xC2B2AE3D27D4EB4FULL;
  void add(std::uint64_t word) {
    a = mix(a ^ word) + 0x632BE59BD9B4E019ULL;
    b = mix((b + word) * 0xFF51AFD7ED558CCDULL);
  }
};

class FingerprintMap {
 public:
  using Id = LevelledDiagram::Id;
  explicit FingerprintMap(std::size_t slots = 1024) : m_slots(slots) {}

  /// The id under this key, or k_none.
  static constexpr Id k_none = 0xFFFFFFFFU;
  [[nodiscard]] Id find(const Fingerprint& key) const {
    for (std::size_t i = key.a & (m_slots.size() - 1);; i = (i + 1) & (m_slots.size() - 1)) {
      const Slot& slot = m_slots[i];
      if (slot.id == k_none) return k_none;
      if (slot.a == key.a && slot.b == static_cast<std::uint32_t>(key.b)) return slot.id;
    }
  }
  void insert(const Fingerprint& key, Id id) {
    if (m_size * 10 >= m_slots.size() * 7) grow();
    place({key.a, static_cast<std::uint32_t>(key.b), id});
    ++m_size;
  }
  [[nodiscard]] std::size_t size() const { return m_size; }

 private:
  struct Slot {
    std::uint64_t a = 0;
    std::uint32_t b = 0;
    Id id = k_none;
  };
  void place(const Slot& slot) {
    std::size_t i = slot.a & (m_slots.size() - 1);
    while (m_slots[i].id != k_none) i = (i + 1) & (m_slots.size() - 1);
    m_slots[i] = slot;
  }
  void grow() {
    std::vector<Slot> old(m_slots.size() * 2);
    old.swap(m_slots);
    for (const Slot& slot : old)
      if (slot.id != k_none) place(slot);
  }
  std::vector<Slot> m_slots;
  std::size_t m_size = 0;
};

/// One part of a constraint that must hold by itself.
struct Conjunct {
  const Expression::Program* program;
  std::uint32_t node;
  std::vector<std::size_t> used;
};

}  // namespace

class DiagramBuilder {
 public:
  using Id = LevelledDiagram::Id;

  DiagramBuilder(LevelledDiagram& diagram, const std::vector<std::vector<Cell>>& cells,
                 const std::vector<Parameter>& parameters, std::uint64_t limit)
      : m_diagram(diagram),
        m_cells(cells),
        m_parameters(parameters),
        m_limit(limit),
        m_environment(cells.size()) {}

  LevelledDiagram::Built run(std::span<const Expression> constraints) {
    const std::size_t levels = m_cells.size();
    m_checks.resize(levels);
    m_cuts.resize(levels);
    m_allowed.resize(levels);
    m_edges.resize(levels);
    m_at.resize(levels);
    for (std::size_t level = 0; level < levels; ++level) {
      m_diagram.m_widths.push_back(static_cast<std::uint32_t>(m_cells[level].size()));
      m_allowed[level].assign(m_cells[level].size(), true);
    }
    m_diagram.m_first = {0, 0};
    m_diagram.m_levels = {static_cast<std::uint32_t>(levels), static_cast<std::uint32_t>(levels)};
    m_diagram.m_counts = {0, 1};
    if (place(constraints)) m_diagram.m_root = levels == 0 ? LevelledDiagram::k_end : node(0);
    if (m_too_large) m_diagram.m_root = LevelledDiagram::k_dead;
    m_diagram.finish();
    return {m_too_large, std::move(m_note)};
  }

 private:
  /// Puts every conjunct at the level that binds its last name. False when one without names is false.
  bool place(std::span<const Expression> constraints) {
    std::vector<Conjunct> open;
    for (const Expression& constraint : constraints) {
      const Expression::Program& program = constraint.program();
      std::vector<std::uint32_t> parts;
      program.tree.conjuncts(program.tree.root(), parts);
      for (const std::uint32_t part : parts) {
        Conjunct conjunct{&program, part, program.tree.used(part)};
        if (conjunct.used.empty()) {
          if (!holds(conjunct, 0)) return false;
        } else if (conjunct.used.size() == 1) {
          filter(conjunct);
        } else {
          open.push_back(std::move(conjunct));
        }
      }
    }
    for (const Conjunct& conjunct : open) {
      m_checks[conjunct.used.back()].push_back(conjunct);
      for (std::size_t level = conjunct.used.front() + 1; level <= conjunct.used.back(); ++level)
        collect_cuts(conjunct, conjunct.node, level);
    }
    return true;
  }

  void filter(const Conjunct& conjunct) {
    const std::size_t level = conjunct.used[0];
    for (std::uint32_t value = 0; value < m_cells[level].size(); ++value) {
      if (!m_allowed[level][value]) continue;
      bind(level, value);
      m_allowed[level][value] = holds(conjunct, level + 1);
    }
  }

  /// The largest parts of an open conjunct that are decided once the levels before `level` are bound: their
  /// values are all that the rest of the space can see of the past.
  void collect_cuts(const Conjunct& conjunct, std::uint32_t node, std::size_t level) {
    const Tree& tree = conjunct.program->tree;
    const std::vector<std::size_t> used = tree.used(node);
    if (used.empty() || used.front() >= level) return;
    const TreeNode& at = tree.nodes[node];
    if (used.back() < level && at.op != Op::list) {
      if (at.op == Op::name) {
        for (const Cut& cut : m_cuts[level])
          if (cut.tree->nodes[cut.node].op == Op::name && cut.tree->nodes[cut.node].slot == at.slot) return;
      }
      m_cuts[level].push_back({&tree, node});
      return;
    }
    for (std::uint32_t i = 0; i < at.count; ++i) collect_cuts(conjunct, tree.children[at.first + i], level);
  }

  void bind(std::size_t level, std::uint32_t value) {
    m_environment[level] = m_cells[level][value];
    m_at[level] = value;
  }

  bool holds(const Conjunct& conjunct, std::size_t bound) {
    Cell out;
    EvaluationFault fault;
    const Tree& tree = conjunct.program->tree;
    if (tree.evaluate(conjunct.node, m_environment, out, fault)) return truthy(out);
    if (m_note.empty()) note(conjunct, bound, fault);
    return false;
  }

  void note(const Conjunct& conjunct, std::size_t bound, const EvaluationFault& fault) {
    const Expression::Program& program = *conjunct.program;
    std::string where;
    for (const std::size_t slot : conjunct.used)
      if (slot < bound)
        where +=
            fmt::format(" {}={}", m_parameters[slot].name, value_text(m_parameters[slot].values[m_at[slot]]));
    m_note = fmt::format("{}; configurations such as{} count as illegal",
                         evaluation_error(program.text, program.place, program.tree, fault).line(), where);
  }

  Fingerprint key(std::size_t level) const {
    Fingerprint print;
    print.add(level);
    for (const Cut& cut : m_cuts[level]) {
      Cell value;
      EvaluationFault fault;
      if (!cut.tree->evaluate(cut.node, m_environment, value, fault)) {
        print.add(0xE44F + static_cast<std::uint64_t>(fault.fault));
        continue;
      }
      print.add(static_cast<std::uint64_t>(value.kind) + 1);
      if (value.kind == ValueKind::string) {
        print.add(hash64(value.text.data(), value.text.size(), 1));
        print.add(hash64(value.text.data(), value.text.size(), 2));
      } else {
        print.add(value.is_whole() ? static_cast<std::uint64_t>(value.whole)
                                   : std::bit_cast<std::uint64_t>(value.real));
      }
    }
    return print;
  }

  Id node(std::size_t level) {
    const Fingerprint state = key(level);
    if (const Id known = m_known.find(state); known != FingerprintMap::k_none) return known;
    std::vector<Id>& edges = m_edges[level];
    edges.assign(m_cells[level].size(), LevelledDiagram::k_dead);
    bool alive = false;
    for (std::uint32_t value = 0; value < m_cells[level].size() && !m_too_large; ++value) {
      if (!m_allowed[level][value]) continue;
      bind(level, value);
      if (!all_hold(level)) continue;
      const Id child = level + 1 == m_cells.size() ? LevelledDiagram::k_end : node(level + 1);
      edges[value] = child;
      alive = alive || child != LevelledDiagram::k_dead;
    }
    const Id id = alive ? shared(level, edges) : LevelledDiagram::k_dead;
    m_known.insert(state, id);
    m_too_large = m_too_large || m_known.size() > m_limit || m_diagram.m_children.size() / 2 > m_limit;
    return id;
  }

  bool all_hold(std::size_t level) {
    for (const Conjunct& conjunct : m_checks[level])
      if (!holds(conjunct, level + 1)) return false;
    return true;
  }

  /// Different pasts can leave the same sub-space: equal edges make one node.
  Id shared(std::size_t level, const std::vector<Id>& edges) {
    Fingerprint print;
    print.add(level);
    for (const Id edge : edges) print.add(edge);
    if (const Id known = m_unique.find(print); known != FingerprintMap::k_none) return known;
    const Id id = m_diagram.append(level, edges);
    m_unique.insert(print, id);
    return id;
  }

  struct Cut {
    const Tree* tree;
    std::uint32_t node;
  };
  LevelledDiagram& m_diagram;
  const std::vector<std::vector<Cell>>& m_cells;
  const std::vector<Parameter>& m_parameters;
  std::uint64_t m_limit;
  std::vector<Cell> m_environment;
  std::vector<std::uint32_t> m_at;
  std::vector<std::vector<Conjunct>> m_checks;
  std::vector<std::vector<Cut>> m_cuts;
  std::vector<std::vector<bool>> m_allowed;
  std::vector<std::vector<Id>> m_edges;
  FingerprintMap m_known, m_unique;
  std::string m_note;
  bool m_too_large = false;
};

LevelledDiagram::Built LevelledDiagram::build(const std::vector<std::vector<Cell>>& cells,
                                              std::span<const Expression> constraints,
                                              const std::vector<Parameter>& parameters, std::uint64_t limit) {
  *this = LevelledDiagram();
  return DiagramBuilder(*this, cells, parameters, limit).run(constraints);
}

/// From the leaves up: a run of points that share a prefix is one node, and equal edges make one node.
class PointBuilder {
 public:
  using Id = LevelledDiagram::Id;
  PointBuilder(LevelledDiagram& diagram, std::span<const Config> points)
      : m_diagram(diagram), m_points(points) {}

  Id node(std::size_t level, std::size_t begin, std::size_t end) {
    std::vector<Id> edges(m_diagram.m_widths[level], LevelledDiagram::k_dead);
    Fingerprint print;
    print.add(level);
    for (std::size_t at = begin; at < end;) {
      const std::uint32_t value = m_points[at].at[level];
      std::size_t next = at + 1;
      while (next < end && m_points[next].at[level] == value) ++next;
      edges[value] = level + 1 == m_diagram.levels() ? LevelledDiagram::k_end : node(level + 1, at, next);
      print.add(value);
      print.add(edges[value]);
      at = next;
    }
    if (const Id known = m_unique.find(print); known != FingerprintMap::k_none) return known;
    const Id id = m_diagram.append(level, edges);
    m_unique.insert(print, id);
    return id;
  }

 private:
  LevelledDiagram& m_diagram;
  std::span<const Config> m_points;
  FingerprintMap m_unique;
};

void LevelledDiagram::build_points(const std::vector<std::uint32_t>& widths, std::span<const Config> points) {
  *this = LevelledDiagram();
  m_widths = widths;
  const auto depth = static_cast<std::uint32_t>(widths.size());
  m_first = {0, 0};
  m_levels = {depth, depth};
  m_counts = {0, 1};
  m_root = widths.empty() ? k_end : PointBuilder(*this, points).node(0, 0, points.size());
  finish();
}

LevelledDiagram::Id LevelledDiagram::append(std::size_t level, std::span<const Id> edges) {
  const Id id = static_cast<Id>(m_first.size());
  m_first.push_back(m_children.size());
  m_levels.push_back(static_cast<std::uint32_t>(level));
  std::uint64_t total = 0;
  for (const Id edge : edges) {
    m_children.push_back(edge);
    m_before.push_back(total);
    total = add_saturating(total, m_counts[edge]);
  }
  m_counts.push_back(total);
  return id;
}

bool LevelledDiagram::saturated() const { return m_counts[m_root] == k_most; }

void LevelledDiagram::finish() {
  m_children.shrink_to_fit();
  m_before.shrink_to_fit();
  if (!saturated()) return;
  m_weights.assign(m_first.size(), 0);
  m_weights[k_end] = 1;
  for (Id node = 2; node < m_first.size(); ++node)
    for (std::uint32_t value = 0; value < m_widths[m_levels[node]]; ++value)
      m_weights[node] += m_weights[child(node, value)];
}

}  // namespace tunesmith::space
