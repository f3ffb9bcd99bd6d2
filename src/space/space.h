// A search space: parameters with value lists and the constraints between them.
// Counting, indexing and sampling work on a decision diagram that merges equal sub-spaces: the full product
// is never built, and a constraint prunes as soon as the last of its names is bound.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "space/expression.h"
#include "space/value.h"

namespace tunesmith::space {

struct Parameter {
  std::string name;           ///< a C identifier: it becomes a macro
  std::vector<Value> values;  ///< distinct, at least one, all of one kind (integers and reals may mix)
  /// Whether the order of the values means something (numbers do, strings and booleans do not).
  [[nodiscard]] bool ordered() const;
};

/// One point: for each parameter the position of its value in Parameter::values.
struct Config {
  std::vector<std::uint32_t> at;
  auto operator<=>(const Config&) const = default;
};

/// How far a neighbour may be: one parameter changed to any other value; to the next smaller or larger one;
/// or every parameter at most one step (the constraint-aware adjacent neighbourhood). Between values without
/// an order every change is one step.
enum class Neighbourhood { hamming, adjacent, strictly_adjacent };

class Space {
 public:
  /// A constraint with the place of its text, for errors.
  struct Constraint {
    std::string text;
    Place place;
  };
  /// Parts that the diagram may have (about 50 bytes each) before create() gives up: constraints that tie
  /// very many parameters together keep sub-spaces from merging.
  static constexpr std::uint64_t k_default_limit = 20'000'000;
  /// No legal configuration is an error that names the first constraint whose addition leaves none.
  /// Without parameters there is one configuration, the empty one.
  [[nodiscard]] static Result<Space> create(std::vector<Parameter> parameters,
                                            std::vector<Constraint> constraints,
                                            std::uint64_t limit = k_default_limit);
  /// This space with none but the given points: of a recording that holds a part of its space. They need not
  /// be sorted; one that is not legal here is an error. The constraints stay, for words in errors.
  [[nodiscard]] Result<Space> only(std::vector<Config> points) const;
  /// A configuration for which a constraint cannot be evaluated (division by zero, overflow) is illegal; this
  /// tells of the first such constraint and configuration, for a person to judge. Empty when there was none.
  [[nodiscard]] const std::string& note() const;

  [[nodiscard]] const std::vector<Parameter>& parameters() const;
  [[nodiscard]] const std::vector<Constraint>& constraints() const;
  [[nodiscard]] std::optional<std::size_t> parameter_index(std::string_view name) const;

  /// Number of legal configurations; saturates at 2^64-1, and so do the indices beyond it.
  /// `cartesian()` is the product without constraints.
  [[nodiscard]] std::uint64_t count() const;
  [[nodiscard]] double cartesian() const;
  [[nodiscard]] Config at(
      std::uint64_t index) const;  ///< index < count(); lexicographic in declaration order
  [[nodiscard]] std::optional<std::uint64_t> index_of(const Config& config) const;  ///< nullopt when illegal
  [[nodiscard]] bool legal(const Config& config) const;
  /// The first constraint that it breaks, with the reason in words; nullopt when legal.
  [[nodiscard]] std::optional<std::string> broken(const Config& config) const;

  /// Uniform over legal configurations.
  [[nodiscard]] Config sample(Rng& rng) const;
  /// Legal neighbours only, in a fixed order; of strictly_adjacent ones the first k_neighbour_limit.
  static constexpr std::size_t k_neighbour_limit = 65536;
  [[nodiscard]] std::vector<Config> neighbours(const Config& config, Neighbourhood kind) const;
  /// The legal configuration with the fewest parameters changed (ties: smallest steps, then lowest index).
  [[nodiscard]] Config nearest_legal(const Config& wished) const;
  /// Visits all legal configurations in index order until `visit` returns false.
  void for_each(const std::function<bool(const Config&)>& visit) const;

  [[nodiscard]] const Value& value(const Config& config, std::size_t parameter) const;
  [[nodiscard]] std::vector<Value> values(const Config& config) const;
  [[nodiscard]] json::object to_json(const Config& config) const;  ///< {"tile_m": 8, …} in declaration order
  /// Unknown names, missing names and values that are not in the list are errors with their place.
  [[nodiscard]] Result<Config> from_json(const Node& node) const;
  [[nodiscard]] std::string text(const Config& config) const;  ///< tile_m=8 tile_n=4

 private:
  struct Diagram;
  std::vector<Parameter> m_parameters;
  std::vector<Constraint> m_constraints;
  std::shared_ptr<const Diagram> m_diagram;
};

}  // namespace tunesmith::space
