// The parsed form of an expression: nodes in one array, children before parents, the root last.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "space/compare.h"
#include "space/expression.h"
#include "space/lexer.h"

namespace tunesmith::space {

enum class Op : std::uint8_t {
  constant,
  name,
  list,
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  modulo,
  power,
  bit_and,
  bit_or,
  bit_xor,
  shift_left,
  shift_right,
  negate,
  plus,
  invert,
  logical_not,
  compare,  ///< chained: operands and one Relation between each two
  both,
  either,  ///< Python's and, or: the value is the operand that decided
  both_c,
  either_c,  ///< && and ||: the value is a boolean
  choose,    ///< children: condition, then, else
  min,
  max,
  abs,
  ceil,
  floor,
  round,
  to_int,
  to_float,
  to_bool,
  log2,
  len,
};

enum class Relation : std::uint8_t { equal, unequal, less, at_most, greater, at_least, in, not_in };

/// The kinds that a node's value may have, one bit each.
using KindMask = unsigned;
constexpr KindMask k_boolean = 1, k_integer = 2, k_real = 4, k_string = 8, k_list = 16;
constexpr KindMask k_whole = k_boolean | k_integer, k_number = k_whole | k_real;

struct TreeNode {
  Op op = Op::constant;
  KindMask kinds = 0;
  std::uint32_t first = 0, count = 0;  ///< children in Tree::children
  std::uint32_t relations = 0;         ///< of a comparison: the first in Tree::relations
  std::uint32_t slot = 0;              ///< of a name; of a constant string: its place in Tree::strings
  std::uint32_t depth = 1;
  std::uint32_t offset = 0;  ///< in the text
  Cell constant;
};

/// Why an evaluation has no value.
enum class Fault : std::uint8_t { none, division_by_zero, overflow, type, domain };
struct EvaluationFault {
  Fault fault = Fault::none;
  std::uint32_t node = 0;
};

struct Tree {
  std::vector<TreeNode> nodes;
  std::vector<std::uint32_t> children;
  std::vector<Relation> relations;
  std::vector<std::string> strings;

  [[nodiscard]] std::uint32_t root() const { return static_cast<std::uint32_t>(nodes.size() - 1); }
  /// False when there is no value; `fault` then says why. `environment` is indexed by slot.
  [[nodiscard]] bool evaluate(std::uint32_t node, std::span<const Cell> environment, Cell& out,
                              EvaluationFault& fault) const;
  /// The parts that must all be true for `node` to be: the operands of `and`, however nested.
  void conjuncts(std::uint32_t node, std::vector<std::uint32_t>& out) const;
  /// Slots that `node` reads, ascending, each once.
  [[nodiscard]] std::vector<std::size_t> used(std::uint32_t node) const;
};

[[nodiscard]] tl::expected<Tree, SyntaxFault> parse_tree(std::string_view text, std::span<const Name> names);
[[nodiscard]] std::string fault_text(Fault fault);

}  // namespace tunesmith::space
