#include "space/compare.h"

#include <cmath>

namespace tunesmith::space {

namespace {

template <class T>
Order order(const T& a, const T& b) {
  if (a < b) return Order::less;
  if (b < a) return Order::greater;
  return a == b ? Order::equal : Order::unordered;
}

Order reversed(Order order) {
  if (order == Order::less) return Order::greater;
  if (order == Order::greater) return Order::less;
  return order;
}

/// Converting the integer would round it from 2^53 on, so the real is cut into a whole part and a rest.
Order whole_against_real(std::int64_t a, double b) {
  if (std::isnan(b)) return Order::unordered;
  if (b >= 0x1p63) return Order::less;
  if (b < -0x1p63) return Order::greater;
  const double whole = std::trunc(b);
  const Order first = order(a, static_cast<std::int64_t>(whole));
  return first != Order::equal ? first : order(0.0, b - whole);
}

}  // namespace

Cell cell_of(const Value& value) {
  if (const auto* held = std::get_if<std::int64_t>(&value)) return cell(*held);
  if (const auto* held = std::get_if<bool>(&value)) return cell(*held);
  if (const auto* held = std::get_if<double>(&value)) return cell(*held);
  return cell(std::string_view(std::get<std::string>(value)));
}

Value value_of(const Cell& cell) {
  switch (cell.kind) {
    case ValueKind::boolean:
      return cell.whole != 0;
    case ValueKind::integer:
      return cell.whole;
    case ValueKind::real:
      return cell.real;
    case ValueKind::string:
      break;
  }
  return std::string(cell.text);
}

bool truthy(const Cell& cell) {
  if (cell.kind == ValueKind::string) return !cell.text.empty();
  return cell.is_whole() ? cell.whole != 0 : cell.real != 0;
}

Order compare(const Cell& a, const Cell& b) {
  if (a.is_number() != b.is_number()) return Order::unordered;
  if (!a.is_number()) return order(a.text, b.text);
  if (a.is_whole() && b.is_whole()) return order(a.whole, b.whole);
  if (a.is_whole()) return whole_against_real(a.whole, b.real);
  if (b.is_whole()) return reversed(whole_against_real(b.whole, a.real));
  return order(a.real, b.real);
}

}  // namespace tunesmith::space
