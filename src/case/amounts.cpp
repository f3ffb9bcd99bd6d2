// Sizes and counts of one shape: extents of buffers, values of scalars, work.
#include <fmt/format.h>

#include <limits>

#include "case/case.h"

namespace tunesmith {

namespace {

std::vector<space::Value> environment_of(const Shape& shape) {
  return {shape.dimensions.begin(), shape.dimensions.end()};
}

tl::unexpected<Error> about(const Error& error, const Case& c, const std::string& what, const Shape& shape) {
  Error out = error;
  if (out.place.file.empty()) out.place.file = c.file;
  out.message = fmt::format("{} at shape \"{}\": {}", what, shape.name, error.message);
  return tl::unexpected<Error>(std::move(out));
}

tl::unexpected<Error> bad(const Case& c, const std::string& what, const Shape& shape,
                          const std::string& message) {
  return about(Error{ErrorCode::invalid, message, {}, {}}, c, what, shape);
}

Result<double> amount(const Case& c, const std::optional<space::Expression>& formula, const char* name,
                      const Shape& shape) {
  if (!formula) return 0.0;
  const std::string what = fmt::format("work.{} \"{}\"", name, formula->text());
  const Result<double> value = formula->evaluate_number(environment_of(shape));
  if (!value) return about(value.error(), c, what, shape);
  if (!std::isfinite(*value) || *value <= 0)
    return bad(c, what, shape, fmt::format("must be a positive number, not {}", *value));
  return *value;
}

}  // namespace

Result<std::vector<std::int64_t>> buffer_extent(const Case& c, const Buffer& buffer, const Shape& shape) {
  std::vector<std::int64_t> extent;
  std::int64_t elements = 1;
  const auto environment = environment_of(shape);
  for (const space::Expression& expression : buffer.shape) {
    const std::string what = fmt::format("argument {}: shape \"{}\"", buffer.name, expression.text());
    const Result<std::int64_t> side = expression.evaluate_int(environment);
    if (!side) return about(side.error(), c, what, shape);
    if (*side <= 0) return bad(c, what, shape, fmt::format("is {}, and must be at least 1", *side));
    if (__builtin_mul_overflow(elements, *side, &elements) ||
        elements > std::numeric_limits<std::int64_t>::max() / 8) {
      return bad(c, what, shape, "the buffer would be larger than any memory");
    }
    extent.push_back(*side);
  }
  return extent;
}

Result<double> scalar_value(const Case& c, const Scalar& scalar, const Shape& shape) {
  const std::string what = fmt::format("argument {}: value \"{}\"", scalar.name, scalar.value.text());
  const Result<double> value = scalar.value.evaluate_number(environment_of(shape));
  if (!value) return about(value.error(), c, what, shape);
  if (!std::isfinite(*value)) return bad(c, what, shape, "is not a finite number");
  if (is_float(scalar.dtype)) return *value;
  if (*value != std::floor(*value))
    return bad(c, what, shape,
               fmt::format("{} is no whole number, as {} needs", *value, name_of(scalar.dtype)));
  const bool is_unsigned = *name_of(scalar.dtype) == 'u';
  const int bits = static_cast<int>(size_of(scalar.dtype)) * 8;
  const double limit = std::ldexp(1.0, is_unsigned ? bits : bits - 1);
  if (*value >= limit || *value < (is_unsigned ? 0.0 : -limit)) {
    return bad(c, what, shape, fmt::format("{} does not fit into {}", *value, name_of(scalar.dtype)));
  }
  return *value;
}

Result<double> flops_of(const Case& c, const Shape& shape) { return amount(c, c.work.flops, "flops", shape); }
Result<double> bytes_of(const Case& c, const Shape& shape) { return amount(c, c.work.bytes, "bytes", shape); }

}  // namespace tunesmith
