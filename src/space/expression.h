// Constraint and work-formula expressions in the form that Kernel Tuner and the T1 format use (Python's):
// + - * / // % ** , == != < <= > >= (chained: 1 <= x < 8), and or not, in / not in (lists, tuples, strings),
// min max abs ceil floor round int float bool log2 len, x if c else y, | ^ & ~ << >>, names, numbers,
// 'strings', True False. C's && || ! are accepted as well, since users write them: && and || bind like `and`
// and `or`, ! like a minus sign, and all three give a boolean. `and` and `or` give the operand that decided,
// as in Python. Parsed once; names and types are checked at parse time; an error names file, line, column and
// the expression.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "space/value.h"

namespace tunesmith::space {

/// What an expression may refer to. The position of a name is its slot in the environment at evaluation.
struct Name {
  std::string name;
  ValueKind kind = ValueKind::integer;
};

class Expression {
 public:
  /// `place` is where the expression's text begins in its file (the value of a JSON string).
  [[nodiscard]] static Result<Expression> parse(std::string text, std::span<const Name> names,
                                                const Place& place = {});

  /// `environment[i]` belongs to names[i] of parse(); only the slots in `used()` are read.
  /// Division by zero, overflow of int64 and type faults that could not be seen at parse time are errors.
  [[nodiscard]] Result<Value> evaluate(std::span<const Value> environment) const;
  [[nodiscard]] Result<bool> evaluate_bool(std::span<const Value> environment) const;
  [[nodiscard]] Result<double> evaluate_number(std::span<const Value> environment) const;
  [[nodiscard]] Result<std::int64_t> evaluate_int(
      std::span<const Value> environment) const;  ///< 4.0 counts as 4

  [[nodiscard]] const std::vector<std::size_t>& used() const;  ///< slots it reads, ascending, each once
  [[nodiscard]] const std::string& text() const;

  struct Program;  ///< for space/ itself (expression_program.h)
  [[nodiscard]] const Program& program() const { return *m_program; }

 private:
  std::shared_ptr<const Program> m_program;
};

}  // namespace tunesmith::space
