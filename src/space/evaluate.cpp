// Python's arithmetic on cells: whole numbers stay exact and overflow is a fault, never a wrap.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "space/tree.h"

namespace tunesmith::space {

namespace {

using Int = std::int64_t;

Fault whole_arithmetic(Op op, Int a, Int b, Cell& out) {
  Int result = 0;
  switch (op) {
    case Op::add:
      if (__builtin_add_overflow(a, b, &result)) return Fault::overflow;
      break;
    case Op::subtract:
      if (__builtin_sub_overflow(a, b, &result)) return Fault::overflow;
      break;
    case Op::multiply:
      if (__builtin_mul_overflow(a, b, &result)) return Fault::overflow;
      break;
    case Op::divide:
      if (b == 0) return Fault::division_by_zero;
      // A long double holds every 64-bit integer, so the quotient is not rounded from rounded operands.
      out = cell(static_cast<double>(static_cast<long double>(a) / static_cast<long double>(b)));
      return Fault::none;
    case Op::floor_divide:
    case Op::modulo: {
      if (b == 0) return Fault::division_by_zero;
      if (b == -1) {  // the smallest integer divided by -1 traps
        if (op == Op::modulo) break;
        if (a == std::numeric_limits<Int>::min()) return Fault::overflow;
        result = -a;
        break;
      }
      const Int rest = a % b;
      const bool shift = rest != 0 && (rest < 0) != (b < 0);
      result = op == Op::modulo ? rest + (shift ? b : 0) : a / b - (shift ? 1 : 0);
      break;
    }
    default:
      return Fault::type;
  }
  out = cell(result);
  return Fault::none;
}

Fault real_arithmetic(Op op, double a, double b, Cell& out) {
  switch (op) {
    case Op::add:
      out = cell(a + b);
      return Fault::none;
    case Op::subtract:
      out = cell(a - b);
      return Fault::none;
    case Op::multiply:
      out = cell(a * b);
      return Fault::none;
    default:
      break;
  }
  if (b == 0) return Fault::division_by_zero;
  if (op == Op::divide) {
    out = cell(a / b);
    return Fault::none;
  }
  double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0) {
    if ((b < 0) != (rest < 0)) {
      rest += b;
      quotient -= 1.0;
    }
  } else {
    rest = std::copysign(0.0, b);
  }
  if (op == Op::modulo) {
    out = cell(rest);
    return Fault::none;
  }
  if (quotient != 0) {
    double whole = std::floor(quotient);
    if (quotient - whole > 0.5) whole += 1.0;
    out = cell(whole);
  } else {
    out = cell(std::copysign(0.0, a / b));
  }
  return Fault::none;
}

Fault power(const Cell& base, const Cell& exponent, Cell& out) {
  if (base.is_whole() && exponent.is_whole() && exponent.whole >= 0) {
    Int result = 1;
    Int square = base.whole;
    Int left = exponent.whole;
    while (true) {
      if ((left & 1) != 0 && __builtin_mul_overflow(result, square, &result)) return Fault::overflow;
      left >>= 1;
      if (left == 0) break;
      // 0, 1 and -1 never overflow, so that huge exponents end as well.
      if (__builtin_mul_overflow(square, square, &square)) return Fault::overflow;
    }
    out = cell(result);
    return Fault::none;
  }
  const double a = base.as_double();
  const double b = exponent.as_double();
  if (a == 0 && b < 0) return Fault::division_by_zero;
  if (a < 0 && std::isfinite(a) && std::isfinite(b) && b != std::floor(b)) return Fault::domain;
  const double result = std::pow(a, b);
  if (std::isinf(result) && std::isfinite(a) && std::isfinite(b)) return Fault::overflow;
  out = cell(result);
  return Fault::none;
}

Fault bits(Op op, const Cell& a, const Cell& b, Cell& out) {
  if (!a.is_whole() || !b.is_whole()) return Fault::type;
  const bool booleans = a.kind == ValueKind::boolean && b.kind == ValueKind::boolean;
  Int result = 0;
  switch (op) {
    case Op::bit_and:
      result = a.whole & b.whole;
      break;
    case Op::bit_or:
      result = a.whole | b.whole;
      break;
    case Op::bit_xor:
      result = a.whole ^ b.whole;
      break;
    case Op::shift_right:
      if (b.whole < 0) return Fault::domain;
      out = cell(a.whole >> std::min<Int>(b.whole, 63));
      return Fault::none;
    default:
      if (b.whole < 0) return Fault::domain;
      if (a.whole != 0 && (b.whole > 62 || __builtin_mul_overflow(a.whole, Int{1} << b.whole, &result)))
        return Fault::overflow;
      out = cell(result);
      return Fault::none;
  }
  out = booleans ? cell(result != 0) : cell(result);
  return Fault::none;
}

Fault binary(Op op, const Cell& a, const Cell& b, Cell& out) {
  if (!a.is_number() || !b.is_number()) return Fault::type;
  if (op == Op::power) return power(a, b, out);
  if (op >= Op::bit_and && op <= Op::shift_right) return bits(op, a, b, out);
  if (a.is_whole() && b.is_whole()) return whole_arithmetic(op, a.whole, b.whole, out);
  return real_arithmetic(op, a.as_double(), b.as_double(), out);
}

Fault to_whole(double value, Cell& out) {
  if (std::isnan(value)) return Fault::domain;
  if (value >= 0x1p63 || value < -0x1p63) return Fault::overflow;
  out = cell(static_cast<Int>(value));
  return Fault::none;
}

Fault unary(Op op, const Cell& a, Cell& out) {
  if (op == Op::logical_not || op == Op::to_bool) {
    out = cell(truthy(a) == (op == Op::to_bool));
    return Fault::none;
  }
  if (!a.is_number()) return Fault::type;
  if (op == Op::to_float) {
    out = cell(a.as_double());
    return Fault::none;
  }
  if (op == Op::log2) {
    if (!(a.as_double() > 0)) return Fault::domain;
    out = cell(std::log2(a.as_double()));
    return Fault::none;
  }
  if (!a.is_whole()) {
    switch (op) {
      case Op::negate:
        out = cell(-a.real);
        return Fault::none;
      case Op::plus:
        out = a;
        return Fault::none;
      case Op::abs:
        out = cell(std::fabs(a.real));
        return Fault::none;
      case Op::ceil:
        return to_whole(std::ceil(a.real), out);
      case Op::floor:
        return to_whole(std::floor(a.real), out);
      case Op::to_int:
        return to_whole(std::trunc(a.real), out);
      default:
        return Fault::type;
    }
  }
  if (op == Op::invert) {
    out = cell(~a.whole);
    return Fault::none;
  }
  if (op == Op::negate || (op == Op::abs && a.whole < 0)) {
    if (a.whole == std::numeric_limits<Int>::min()) return Fault::overflow;
    out = cell(-a.whole);
    return Fault::none;
  }
  out = cell(a.whole);
  return Fault::none;
}

/// Half to even. With digits, on the exact decimal value of the double, as Python does: round(2.675, 2)
/// == 2.67.
Fault round(const Cell& a, const Cell* digits, Cell& out) {
  if (!a.is_number() || (digits != nullptr && !digits->is_whole())) return Fault::type;
  if (digits != nullptr && digits->whole < 0) return Fault::domain;
  if (a.is_whole()) {
    out = cell(a.whole);
    return Fault::none;
  }
  if (digits == nullptr) return to_whole(std::nearbyint(a.real), out);
  out = a;
  if (!std::isfinite(a.real) || digits->whole > 300) return Fault::none;
  const std::string text = fmt::format("{:.{}f}", a.real, static_cast<int>(digits->whole));
  double rounded = 0;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  out = cell(rounded);
  return Fault::none;
}

bool holds(Relation relation, Order order) {
  switch (relation) {
    case Relation::equal:
      return order == Order::equal;
    case Relation::unequal:
      return order != Order::equal;
    case Relation::less:
      return order == Order::less;
    case Relation::at_most:
      return order == Order::less || order == Order::equal;
    case Relation::greater:
      return order == Order::greater;
    case Relation::at_least:
      return order == Order::greater || order == Order::equal;
    default:
      return false;
  }
}

Int code_points(std::string_view text) {
  Int count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
  return count;
}

class Evaluator {
 public:
  Evaluator(const Tree& tree, std::span<const Cell> environment, EvaluationFault& fault)
      : m_tree(tree), m_environment(environment), m_fault(fault) {}

  bool run(std::uint32_t index, Cell& out) {
    const TreeNode& node = m_tree.nodes[index];
    const std::uint32_t* children = m_tree.children.data() + node.first;
    switch (node.op) {
      case Op::constant:
        out = node.constant;
        if (out.kind == ValueKind::string) out.text = m_tree.strings[node.slot];
        return true;
      case Op::name:
        out = m_environment[node.slot];
        return true;
      case Op::list:
        return stop(index, Fault::type);
      case Op::compare:
        return compare_chain(node, children, index, out);
      case Op::both:
      case Op::either:
        if (!run(children[0], out)) return false;
        return truthy(out) == (node.op == Op::either) || run(children[1], out);
      case Op::both_c:
      case Op::either_c:
        if (!run(children[0], out)) return false;
        if (truthy(out) != (node.op == Op::either_c) && !run(children[1], out)) return false;
        out = cell(truthy(out));
        return true;
      case Op::choose: {
        Cell condition;
        return run(children[0], condition) && run(children[truthy(condition) ? 1 : 2], out);
      }
      case Op::min:
      case Op::max:
        return extremum(node, children, index, out);
      case Op::len:
        return length(children[0], index, out);
      case Op::round: {
        Cell value;
        Cell digits;
        if (!run(children[0], value) || (node.count > 1 && !run(children[1], digits))) return false;
        return settle(index, round(value, node.count > 1 ? &digits : nullptr, out));
      }
      default:
        break;
    }
    Cell first;
    if (!run(children[0], first)) return false;
    if (node.count == 1) return settle(index, unary(node.op, first, out));
    Cell second;
    if (!run(children[1], second)) return false;
    return settle(index, binary(node.op, first, second, out));
  }

 private:
  bool stop(std::uint32_t node, Fault fault) {
    m_fault = {fault, node};
    return false;
  }
  bool settle(std::uint32_t node, Fault fault) { return fault == Fault::none || stop(node, fault); }

  bool compare_chain(const TreeNode& node, const std::uint32_t* children, std::uint32_t index, Cell& out) {
    Cell left;
    if (!run(children[0], left)) return false;
    for (std::uint32_t i = 0; i + 1 < node.count; ++i) {
      const Relation relation = m_tree.relations[node.relations + i];
      bool result = false;
      if (relation == Relation::in || relation == Relation::not_in) {
        if (!member(left, children[i + 1], index, result)) return false;
        result = result == (relation == Relation::in);
        // A list has no further comparison (the parser saw to it); a string may.
        if (i + 2 < node.count && !run(children[i + 1], left)) return false;
      } else {
        Cell right;
        if (!run(children[i + 1], right)) return false;
        const bool equality = relation == Relation::equal || relation == Relation::unequal;
        if (!equality && left.is_number() != right.is_number()) return stop(index, Fault::type);
        result = holds(relation, compare(left, right));
        left = right;
      }
      if (!result) {
        out = cell(false);
        return true;
      }
    }
    out = cell(true);
    return true;
  }

  bool member(const Cell& item, std::uint32_t container, std::uint32_t index, bool& result) {
    const TreeNode& list = m_tree.nodes[container];
    if (list.op != Op::list) {
      Cell text;
      if (!run(container, text)) return false;
      if (text.is_number() || item.is_number()) return stop(index, Fault::type);
      result = text.text.find(item.text) != std::string_view::npos;
      return true;
    }
    for (std::uint32_t i = 0; i < list.count; ++i) {
      Cell element;
      if (!run(m_tree.children[list.first + i], element)) return false;
      result = result || compare(item, element) == Order::equal;
    }
    return true;
  }

  bool extremum(const TreeNode& node, const std::uint32_t* children, std::uint32_t index, Cell& out) {
    std::uint32_t count = node.count;
    if (count == 1) {
      const TreeNode& list = m_tree.nodes[children[0]];
      if (list.op != Op::list) return stop(index, Fault::type);
      children = m_tree.children.data() + list.first;
      count = list.count;
    }
    if (!run(children[0], out)) return false;
    for (std::uint32_t i = 1; i < count; ++i) {
      Cell next;
      if (!run(children[i], next)) return false;
      if (next.is_number() != out.is_number()) return stop(index, Fault::type);
      // The first of equals stays, as in Python.
      if (compare(next, out) == (node.op == Op::min ? Order::less : Order::greater)) out = next;
    }
    return true;
  }

  bool length(std::uint32_t child, std::uint32_t index, Cell& out) {
    const TreeNode& list = m_tree.nodes[child];
    if (list.op == Op::list) {
      out = cell(static_cast<Int>(list.count));
      return true;
    }
    Cell text;
    if (!run(child, text)) return false;
    if (text.is_number()) return stop(index, Fault::type);
    out = cell(code_points(text.text));
    return true;
  }

  const Tree& m_tree;
  std::span<const Cell> m_environment;
  EvaluationFault& m_fault;
};

}  // namespace

bool Tree::evaluate(std::uint32_t node, std::span<const Cell> environment, Cell& out,
                    EvaluationFault& fault) const {
  return Evaluator(*this, environment, fault).run(node, out);
}

std::string fault_text(Fault fault) {
  switch (fault) {
    case Fault::none:
      break;
    case Fault::division_by_zero:
      return "division by zero";
    case Fault::overflow:
      return "the result does not fit (integers have 64 bits)";
    case Fault::type:
      return "numbers and strings are mixed";
    case Fault::domain:
      return "the function or operator has no value here";
  }
  return "no fault";
}

}  // namespace tunesmith::space
