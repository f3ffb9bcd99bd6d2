#include "space/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "space/diagram.h"
#include "space/expression_program.h"

namespace tunesmith::space {

namespace {

bool is_identifier(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (name.empty() || !letter(name[0])) return false;
  return std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

/// A macro of this name would change the language under the kernel's feet.
bool is_c_keyword(std::string_view name) {
  static constexpr std::array k_keywords = {
      "alignas", "alignof",  "auto",     "bool",     "break",  "case",     "catch",     "char",    "class",
      "const",   "continue", "default",  "delete",   "do",     "double",   "enum",      "extern",  "false",
      "float",   "for",      "goto",     "inline",   "int",    "long",     "namespace", "new",     "operator",
      "private", "public",   "register", "restrict", "return", "short",    "signed",    "sizeof",  "static",
      "struct",  "switch",   "template", "this",     "throw",  "true",     "try",       "typedef", "typename",
      "union",   "unsigned", "using",    "virtual",  "void",   "volatile", "while",     "defined"};
  return std::any_of(k_keywords.begin(), k_keywords.end(), [&](const char* word) { return name == word; });
}

tl::unexpected<Error> refuse(const Parameter& parameter, std::string message, std::string mend) {
  return fail(ErrorCode::invalid, std::move(message), std::move(mend), {"", 0, 0, printable(parameter.name)});
}

ValueKind kind_of(const Parameter& parameter) {
  ValueKind kind = space::kind_of(parameter.values[0]);
  for (const Value& value : parameter.values)
    if (space::kind_of(value) == ValueKind::real) kind = ValueKind::real;
  return kind;
}

Status check_values(const Parameter& parameter) {
  const auto& values = parameter.values;
  if (values.empty()) return refuse(parameter, "the parameter has no values", "list at least one");
  const auto family = [](const Value& value) {
    const ValueKind kind = space::kind_of(value);
    return kind == ValueKind::real ? ValueKind::integer : kind;
  };
  for (const Value& value : values) {
    if (family(value) != family(values[0]))
      return refuse(parameter,
                    fmt::format("the values mix kinds: {} is {}, {} is {}", value_text(values[0]),
                                kind_name(space::kind_of(values[0])), printable(value_text(value)),
                                kind_name(space::kind_of(value))),
                    "use only numbers, only strings or only true and false");
    if (const double* real = std::get_if<double>(&value); real != nullptr && !std::isfinite(*real))
      return refuse(parameter, "a value is not finite", "use finite numbers");
  }
  std::vector<const Value*> sorted;
  for (const Value& value : values) sorted.push_back(&value);
  std::sort(sorted.begin(), sorted.end(),
            [](const Value* a, const Value* b) { return compare(cell_of(*a), cell_of(*b)) == Order::less; });
  for (std::size_t i = 1; i < sorted.size(); ++i)
    if (equal(*sorted[i - 1], *sorted[i]))
      return refuse(parameter, fmt::format("the value {} stands twice", printable(value_text(*sorted[i]))),
                    "remove one");
  return {};
}

Status check_parameters(const std::vector<Parameter>& parameters) {
  std::vector<std::string_view> seen;
  for (const Parameter& parameter : parameters) {
    if (!is_identifier(parameter.name))
      return refuse(parameter, fmt::format("'{}' is not a C identifier", printable(parameter.name)),
                    "parameters become macros: use letters, digits and _, not beginning with a digit");
    if (is_expression_word(parameter.name) || is_c_keyword(parameter.name))
      return refuse(parameter, fmt::format("'{}' is a reserved word", parameter.name), "choose another name");
    if (std::find(seen.begin(), seen.end(), parameter.name) != seen.end())
      return refuse(parameter, fmt::format("the parameter '{}' is declared twice", parameter.name),
                    "remove one");
    seen.push_back(parameter.name);
    TS_TRY(check_values(parameter));
  }
  return {};
}

}  // namespace

bool Parameter::ordered() const {
  return !values.empty() && kind_of(*this) != ValueKind::string && kind_of(*this) != ValueKind::boolean;
}

struct Space::Diagram {
  LevelledDiagram levels;
  std::vector<Expression> constraints;
  std::string note;
  /// Of an ordered parameter: the rank of each value by size, and back. Empty for the others.
  std::vector<std::vector<std::uint32_t>> rank, by_rank;

  [[nodiscard]] std::uint32_t steps(std::size_t parameter, std::uint32_t a, std::uint32_t b) const {
    if (a == b) return 0;
    const auto& ranks = rank[parameter];
    if (ranks.empty() || a >= ranks.size() || b >= ranks.size()) return 1;
    return ranks[a] > ranks[b] ? ranks[a] - ranks[b] : ranks[b] - ranks[a];
  }
};

namespace {

void rank_values(const std::vector<Cell>& cells, std::vector<std::uint32_t>& rank,
                 std::vector<std::uint32_t>& by_rank) {
  by_rank.resize(cells.size());
  for (std::uint32_t i = 0; i < cells.size(); ++i) by_rank[i] = i;
  std::sort(by_rank.begin(), by_rank.end(),
            [&](std::uint32_t a, std::uint32_t b) { return compare(cells[a], cells[b]) == Order::less; });
  rank.resize(cells.size());
  for (std::uint32_t i = 0; i < cells.size(); ++i) rank[by_rank[i]] = i;
}

tl::unexpected<Error> too_large(std::uint64_t limit) {
  return fail(ErrorCode::invalid,
              fmt::format("the space does not fit into a diagram of {} parts: its constraints tie too many "
                          "parameters together",
                          limit),
              "give parameters fewer values, split constraints, or declare parameters that share a "
              "constraint next to each other");
}

}  // namespace

Result<Space> Space::create(std::vector<Parameter> parameters, std::vector<Constraint> constraints,
                            std::uint64_t limit) {
  TS_TRY(check_parameters(parameters));
  Space space;
  space.m_parameters = std::move(parameters);
  space.m_constraints = std::move(constraints);
  auto diagram = std::make_shared<Diagram>();
  std::vector<Name> names;
  std::vector<std::vector<Cell>> cells;
  for (const Parameter& parameter : space.m_parameters) {
    names.push_back({parameter.name, kind_of(parameter)});
    std::vector<Cell>& row = cells.emplace_back();
    for (const Value& value : parameter.values) row.push_back(cell_of(value));
    diagram->rank.emplace_back();
    diagram->by_rank.emplace_back();
    if (parameter.ordered()) rank_values(row, diagram->rank.back(), diagram->by_rank.back());
  }
  for (const Constraint& constraint : space.m_constraints) {
    TS_ASSIGN(Expression expression, Expression::parse(constraint.text, names, constraint.place));
    diagram->constraints.push_back(std::move(expression));
  }
  const std::span<const Expression> all(diagram->constraints);
  LevelledDiagram::Built built = diagram->levels.build(cells, all, space.m_parameters, limit);
  if (built.too_large) return too_large(limit);
  if (diagram->levels.root() == LevelledDiagram::k_dead) {
    // More constraints never leave more, so the first prefix that leaves nothing is found by halving.
    std::size_t low = 1;
    std::size_t high = all.size();
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      const auto part = diagram->levels.build(cells, all.first(middle), space.m_parameters, limit);
      if (!part.too_large && diagram->levels.root() == LevelledDiagram::k_dead)
        high = middle;
      else
        low = middle + 1;
    }
    const auto last = diagram->levels.build(cells, all.subspan(low - 1, 1), space.m_parameters, limit);
    const bool alone = !last.too_large && diagram->levels.root() == LevelledDiagram::k_dead;
    const Constraint& guilty = space.m_constraints[low - 1];
    return fail(
        ErrorCode::invalid,
        fmt::format("no configuration is legal: \"{}\" leaves none{}{}", cut(printable(guilty.text), 200),
                    alone ? "" : " together with the constraints before it",
                    built.note.empty() ? "" : " (" + built.note + ")"),
        "loosen it or add values", guilty.place);
  }
  diagram->note = std::move(built.note);
  space.m_diagram = std::move(diagram);
  return space;
}

Result<Space> Space::only(std::vector<Config> points) const {
  if (points.empty()) return fail(ErrorCode::invalid, "a space needs at least one configuration", "");
  for (const Config& point : points)
    if (!legal(point)) return fail(ErrorCode::invalid, "a configuration is not legal in this space", "");
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  Space space = *this;
  auto diagram = std::make_shared<Diagram>(*m_diagram);
  std::vector<std::uint32_t> widths;
  for (const Parameter& parameter : m_parameters)
    widths.push_back(static_cast<std::uint32_t>(parameter.values.size()));
  diagram->levels.build_points(widths, points);
  space.m_diagram = std::move(diagram);
  return space;
}

const std::vector<Parameter>& Space::parameters() const { return m_parameters; }
const std::vector<Space::Constraint>& Space::constraints() const { return m_constraints; }
const std::string& Space::note() const { return m_diagram->note; }

std::optional<std::size_t> Space::parameter_index(std::string_view name) const {
  for (std::size_t i = 0; i < m_parameters.size(); ++i)
    if (m_parameters[i].name == name) return i;
  return std::nullopt;
}

std::uint64_t Space::count() const {
  return m_diagram ? m_diagram->levels.count(m_diagram->levels.root()) : 0;
}

double Space::cartesian() const {
  double product = 1;
  for (const Parameter& parameter : m_parameters) product *= static_cast<double>(parameter.values.size());
  return product;
}

Config Space::at(std::uint64_t index) const {
  const LevelledDiagram& d = m_diagram->levels;
  Config config;
  config.at.reserve(d.levels());
  LevelledDiagram::Id node = d.root();
  for (std::size_t level = 0; level < d.levels(); ++level) {
    // The last value whose predecessors hold no more than `index` configurations; a dead one never is, since
    // the next living one has as few before it.
    std::uint32_t low = 0;
    std::uint32_t high = d.width(level) - 1;
    while (low < high) {
      const std::uint32_t middle = low + (high - low + 1) / 2;
      if (d.before(node, middle) <= index)
        low = middle;
      else
        high = middle - 1;
    }
    index -= d.before(node, low);
    config.at.push_back(low);
    node = d.child(node, low);
  }
  return config;
}

std::optional<std::uint64_t> Space::index_of(const Config& config) const {
  const LevelledDiagram& d = m_diagram->levels;
  if (config.at.size() != d.levels()) return std::nullopt;
  LevelledDiagram::Id node = d.root();
  std::uint64_t index = 0;
  for (std::size_t level = 0; level < d.levels(); ++level) {
    const std::uint32_t value = config.at[level];
    if (value >= d.width(level) || d.child(node, value) == LevelledDiagram::k_dead) return std::nullopt;
    const std::uint64_t before = d.before(node, value);
    index = before > std::numeric_limits<std::uint64_t>::max() - index
                ? std::numeric_limits<std::uint64_t>::max()
                : index + before;
    node = d.child(node, value);
  }
  return index;
}

bool Space::legal(const Config& config) const {
  const LevelledDiagram& d = m_diagram->levels;
  if (config.at.size() != d.levels()) return false;
  LevelledDiagram::Id node = d.root();
  for (std::size_t level = 0; level < d.levels(); ++level) {
    if (config.at[level] >= d.width(level)) return false;
    node = d.child(node, config.at[level]);
    if (node == LevelledDiagram::k_dead) return false;
  }
  return true;
}

std::optional<std::string> Space::broken(const Config& config) const {
  if (config.at.size() != m_parameters.size())
    return fmt::format("it has {} values for {} parameters", config.at.size(), m_parameters.size());
  std::vector<Cell> environment;
  for (std::size_t i = 0; i < m_parameters.size(); ++i) {
    if (config.at[i] >= m_parameters[i].values.size())
      return fmt::format("{} has no value number {}", m_parameters[i].name, config.at[i]);
    environment.push_back(cell_of(m_parameters[i].values[config.at[i]]));
  }
  for (const Expression& constraint : m_diagram->constraints) {
    const Tree& tree = constraint.program().tree;
    Cell out;
    EvaluationFault fault;
    const bool evaluated = tree.evaluate(tree.root(), environment, out, fault);
    if (evaluated && truthy(out)) continue;
    std::vector<std::string> bound;
    for (const std::size_t slot : constraint.used())
      bound.push_back(fmt::format("{}={}", m_parameters[slot].name,
                                  value_text(m_parameters[slot].values[config.at[slot]])));
    const std::string where = bound.empty() ? "" : " for " + join(bound, " ");
    return evaluated ? fmt::format("\"{}\" does not hold{}", constraint.text(), where)
                     : fmt::format("\"{}\" cannot be evaluated{}: {}", constraint.text(), where,
                                   fault_text(fault.fault));
  }
  if (!legal(config)) return "it is not among the points that the space holds";
  return std::nullopt;
}

Config Space::sample(Rng& rng) const {
  const LevelledDiagram& d = m_diagram->levels;
  if (!d.saturated()) return at(rng.below(count()));
  Config config;
  LevelledDiagram::Id node = d.root();
  for (std::size_t level = 0; level < d.levels(); ++level) {
    double left = rng.uniform() * d.weight(node);
    std::uint32_t chosen = 0;
    for (std::uint32_t value = 0; value < d.width(level); ++value) {
      const LevelledDiagram::Id child = d.child(node, value);
      if (child == LevelledDiagram::k_dead) continue;
      chosen = value;
      left -= d.weight(child);
      if (left < 0) break;
    }
    config.at.push_back(chosen);
    node = d.child(node, chosen);
  }
  return config;
}

std::vector<Config> Space::neighbours(const Config& config, Neighbourhood kind) const {
  const Diagram& diagram = *m_diagram;
  const LevelledDiagram& d = diagram.levels;
  std::vector<Config> found;
  if (config.at.size() != d.levels()) return found;
  if (kind != Neighbourhood::strictly_adjacent) {
    Config other = config;
    for (std::size_t p = 0; p < d.levels(); ++p) {
      for (std::uint32_t value = 0; value < d.width(p); ++value) {
        if (value == config.at[p]) continue;
        if (kind == Neighbourhood::adjacent && diagram.steps(p, value, config.at[p]) > 1) continue;
        other.at[p] = value;
        if (legal(other)) found.push_back(other);
      }
      other.at[p] = config.at[p];
    }
    return found;
  }
  Config other = config;
  const std::function<void(std::size_t, LevelledDiagram::Id)> visit = [&](std::size_t level,
                                                                          LevelledDiagram::Id node) {
    if (node == LevelledDiagram::k_dead || found.size() >= k_neighbour_limit) return;
    if (level == d.levels()) {
      if (other != config) found.push_back(other);
      return;
    }
    for (std::uint32_t value = 0; value < d.width(level); ++value) {
      if (diagram.steps(level, value, config.at[level]) > 1) continue;
      other.at[level] = value;
      visit(level + 1, d.child(node, value));
    }
  };
  visit(0, d.root());
  return found;
}

Config Space::nearest_legal(const Config& wished) const {
  if (legal(wished)) return wished;
  const Diagram& diagram = *m_diagram;
  const LevelledDiagram& d = diagram.levels;
  constexpr std::uint32_t k_nowhere = std::numeric_limits<std::uint32_t>::max();
  const auto target = [&](std::size_t level) {
    return level < wished.at.size() ? wished.at[level] : k_nowhere;
  };
  using Cost = std::pair<std::uint32_t, std::uint64_t>;  // parameters changed, steps
  constexpr Cost k_never = {k_nowhere, 0};
  std::vector<Cost> best(d.size(), k_never);
  best[LevelledDiagram::k_end] = {0, 0};
  const auto through = [&](LevelledDiagram::Id node, std::uint32_t value) {
    const LevelledDiagram::Id child = d.child(node, value);
    if (child == LevelledDiagram::k_dead) return k_never;
    const std::size_t level = d.level(node);
    Cost cost = best[child];
    cost.first += value == target(level) ? 0 : 1;
    cost.second += diagram.steps(level, value, target(level));
    return cost;
  };
  for (LevelledDiagram::Id node = 2; node < d.size(); ++node)
    for (std::uint32_t value = 0; value < d.width(d.level(node)); ++value)
      best[node] = std::min(best[node], through(node, value));
  Config config;
  LevelledDiagram::Id node = d.root();
  for (std::size_t level = 0; level < d.levels(); ++level) {
    std::uint32_t value = 0;
    while (through(node, value) != best[node]) ++value;
    config.at.push_back(value);
    node = d.child(node, value);
  }
  return config;
}

void Space::for_each(const std::function<bool(const Config&)>& visit) const {
  const LevelledDiagram& d = m_diagram->levels;
  Config config;
  config.at.assign(d.levels(), 0);
  const std::function<bool(std::size_t, LevelledDiagram::Id)> walk = [&](std::size_t level,
                                                                         LevelledDiagram::Id node) {
    if (level == d.levels()) return visit(config);
    for (std::uint32_t value = 0; value < d.width(level); ++value) {
      const LevelledDiagram::Id child = d.child(node, value);
      if (child == LevelledDiagram::k_dead) continue;
      config.at[level] = value;
      if (!walk(level + 1, child)) return false;
    }
    return true;
  };
  walk(0, d.root());
}

}  // namespace tunesmith::space
