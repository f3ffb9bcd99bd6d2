#include "space/expression.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text.h"
#include "space/expression_program.h"

namespace tunesmith::space {

namespace {

// A formula longer than this is a program; the limit keeps a hostile file cheap.
constexpr std::size_t k_text_limit_bytes = 16384;

/// The text is the contents of a JSON string: its first byte stands one after the quote.
Place place_at(const Place& begin, std::size_t offset) {
  Place place = begin;
  if (place.column > 0) place.column += 1 + static_cast<int>(offset);
  return place;
}

std::string headed(const std::string& text, const Place& place, std::size_t offset,
                   const std::string& message) {
  const std::string shown = cut(printable(text), 200);
  if (place.column > 0) return fmt::format("in \"{}\": {}", shown, message);
  return fmt::format("in \"{}\" at character {}: {}", shown, offset + 1, message);
}

}  // namespace

Error evaluation_error(const std::string& text, const Place& place, const Tree& tree,
                       const EvaluationFault& fault) {
  const std::size_t offset = tree.nodes[fault.node].offset;
  return {ErrorCode::invalid, headed(text, place, offset, fault_text(fault.fault)), "",
          place_at(place, offset)};
}

Result<Expression> Expression::parse(std::string text, std::span<const Name> names, const Place& place) {
  if (text.size() > k_text_limit_bytes)
    return fail(ErrorCode::invalid, fmt::format("the expression is longer than {} bytes", k_text_limit_bytes),
                "split it", place);
  auto tree = parse_tree(text, names);
  if (!tree) {
    const SyntaxFault& fault = tree.error();
    return fail(ErrorCode::invalid, headed(text, place, fault.offset, fault.message), fault.mend,
                place_at(place, fault.offset));
  }
  auto program = std::make_shared<Program>();
  program->text = std::move(text);
  program->place = place;
  program->used = tree->used(tree->root());
  program->tree = std::move(*tree);
  Expression expression;
  expression.m_program = std::move(program);
  return expression;
}

Result<Value> Expression::evaluate(std::span<const Value> environment) const {
  const Program& program = *m_program;
  std::vector<Cell> cells(program.used.empty() ? 0 : program.used.back() + 1);
  for (const std::size_t slot : program.used) cells[slot] = cell_of(environment[slot]);
  Cell out;
  EvaluationFault fault;
  if (!program.tree.evaluate(program.tree.root(), cells, out, fault))
    return tl::unexpected<Error>(evaluation_error(program.text, program.place, program.tree, fault));
  return value_of(out);
}

Result<bool> Expression::evaluate_bool(std::span<const Value> environment) const {
  TS_ASSIGN(const Value value, evaluate(environment));
  return truthy(value);
}

Result<double> Expression::evaluate_number(std::span<const Value> environment) const {
  TS_ASSIGN(const Value value, evaluate(environment));
  if (kind_of(value) == ValueKind::string)
    return fail(ErrorCode::invalid, headed(text(), m_program->place, 0, "expected a number, got a string"),
                "", m_program->place);
  return number_of(value);
}

Result<std::int64_t> Expression::evaluate_int(std::span<const Value> environment) const {
  TS_ASSIGN(const Value value, evaluate(environment));
  const Cell cell = cell_of(value);
  if (cell.is_whole()) return cell.whole;
  if (cell.kind == ValueKind::real && cell.real == std::floor(cell.real) && cell.real >= -0x1p63 &&
      cell.real < 0x1p63)
    return static_cast<std::int64_t>(cell.real);
  return fail(
      ErrorCode::invalid,
      headed(text(), m_program->place, 0, fmt::format("expected a whole number, got {}", value_text(value))),
      "use // for whole division", m_program->place);
}

const std::vector<std::size_t>& Expression::used() const { return m_program->used; }
const std::string& Expression::text() const { return m_program->text; }

}  // namespace tunesmith::space
