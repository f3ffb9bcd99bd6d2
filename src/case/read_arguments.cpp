#include <fmt/format.h>

#include <set>

#include "base/text.h"
#include "case/reader.h"

namespace tunesmith::reader {

namespace {

std::vector<std::string> dtype_names() {
  return {"f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8"};
}

Result<Dtype> read_dtype(const Node& node) {
  TS_ASSIGN(const std::string name, word_of(node, dtype_names()));
  return *dtype_from_name(name);
}

/// A formula may be written as a plain number.
Result<space::Expression> read_expression(const Node& node, const std::vector<space::Name>& names) {
  if (node.is_number())
    return space::Expression::parse(print_json_compact(node.value()), names, node.place());
  TS_ASSIGN(const std::string text, node.as_string());
  if (trim(text).empty())
    return node.error("must be an expression over the dimensions", "for example \"m*k\"");
  return space::Expression::parse(text, names, node.place());
}

Result<double> finite(const Node& node) {
  TS_ASSIGN(const double number, node.as_double());
  if (!std::isfinite(number)) return node.error("must be a finite number");
  return number;
}

Status read_number(const Node& node, const char* key, double& into) {
  if (const auto found = node.find(key)) {
    TS_ASSIGN(into, finite(*found));
  }
  return {};
}

std::pair<double, double> integer_range(Dtype dtype) {
  const bool is_unsigned = *name_of(dtype) == 'u';
  const int bits = static_cast<int>(size_of(dtype)) * 8;
  return {is_unsigned ? 0 : -std::ldexp(1.0, bits - 1), std::ldexp(1.0, is_unsigned ? bits : bits - 1) - 1};
}

/// Small whole numbers, so that sums of products stay exact in the accumulators that kernels use.
Fill standard_fill(Dtype dtype) {
  Fill fill;
  if (is_float(dtype)) return fill;
  fill.kind = Fill::Kind::integers;
  fill.low = integer_range(dtype).first < 0 ? -8 : 0;
  fill.high = 8;
  return fill;
}

Status check_integers(const Node& node, const Fill& fill, Dtype dtype) {
  if (fill.low != std::floor(fill.low) || fill.high != std::floor(fill.high))
    return node.error("low and high must be whole numbers");
  if (fill.low > fill.high) return node.error(fmt::format("low {} is above high {}", fill.low, fill.high));
  if (is_float(dtype)) return {};
  const auto [least, most] = integer_range(dtype);
  if (fill.low < least || fill.high > most)
    return node.error(fmt::format("{} to {} does not fit into {}", fill.low, fill.high, name_of(dtype)));
  return {};
}

Result<Fill> read_fill(const Node& node, Dtype dtype) {
  Fill fill = standard_fill(dtype);
  TS_ASSIGN(const Node kind_node, node.get("kind"));
  TS_ASSIGN(const std::string kind, word_of(kind_node, {"uniform", "normal", "integers", "constant"}));
  if (kind == "integers") {
    TS_TRY(node.only_keys({"kind", "low", "high"}));
    fill.kind = Fill::Kind::integers;
    TS_TRY(read_number(node, "low", fill.low));
    TS_TRY(read_number(node, "high", fill.high));
    TS_TRY(check_integers(node, fill, dtype));
    return fill;
  }
  if (kind == "constant") {
    TS_TRY(node.only_keys({"kind", "value"}));
    fill.kind = Fill::Kind::constant;
    TS_ASSIGN(const Node value, node.get("value"));
    TS_ASSIGN(fill.constant, finite(value));
    if (!is_float(dtype)) {
      const auto [least, most] = integer_range(dtype);
      if (fill.constant != std::floor(fill.constant) || fill.constant < least || fill.constant > most) {
        return value.error(fmt::format("{} is no value of {}", fill.constant, name_of(dtype)));
      }
    }
    return fill;
  }
  if (!is_float(dtype))
    return kind_node.error(
        fmt::format("{} is for floating-point buffers, and this one is {}", kind, name_of(dtype)),
        "use \"integers\"");
  if (kind == "normal") {
    TS_TRY(node.only_keys({"kind", "mean", "deviation"}));
    fill.kind = Fill::Kind::normal;
    TS_TRY(read_number(node, "mean", fill.mean));
    TS_TRY(read_number(node, "deviation", fill.deviation));
    if (fill.deviation <= 0)
      return node.error("deviation must be above 0", "use \"constant\" for equal values");
    return fill;
  }
  TS_TRY(node.only_keys({"kind", "low", "high"}));
  TS_TRY(read_number(node, "low", fill.low));
  TS_TRY(read_number(node, "high", fill.high));
  if (!(fill.low < fill.high))
    return node.error(fmt::format("low {} is not below high {}", fill.low, fill.high));
  return fill;
}

Result<Argument> read_buffer(const Node& node, const std::string& name,
                             const std::vector<space::Name>& dimensions) {
  TS_TRY(node.only_keys({"name", "buffer", "shape", "role", "fill"}));
  Buffer buffer;
  buffer.name = name;
  TS_ASSIGN(const Node dtype, node.get("buffer"));
  TS_ASSIGN(buffer.dtype, read_dtype(dtype));
  TS_ASSIGN(const Node role_node, node.get("role"));
  TS_ASSIGN(const std::string role, word_of(role_node, {"in", "out", "inout", "workspace"}));
  buffer.role = role == "in"      ? Role::in
                : role == "out"   ? Role::out
                : role == "inout" ? Role::inout
                                  : Role::workspace;
  TS_ASSIGN(const Node shape, node.get("shape"));
  TS_ASSIGN(const auto sides, shape.items());
  if (sides.empty()) return shape.error("must hold at least one dimension", "write [1] for a single element");
  for (const Node& side : sides) {
    TS_ASSIGN(space::Expression expression, read_expression(side, dimensions));
    buffer.shape.push_back(std::move(expression));
  }
  buffer.fill = standard_fill(buffer.dtype);
  if (const auto fill = node.find("fill")) {
    if (buffer.role == Role::out || buffer.role == Role::workspace) {
      return fill->error(fmt::format("a buffer of role {} is poisoned, not filled", role), "remove \"fill\"");
    }
    TS_ASSIGN(buffer.fill, read_fill(*fill, buffer.dtype));
  }
  return Argument(std::move(buffer));
}

Result<Argument> read_scalar(const Node& node, const std::string& name,
                             const std::vector<space::Name>& dimensions) {
  TS_TRY(node.only_keys({"name", "scalar", "value"}));
  Scalar scalar;
  scalar.name = name;
  TS_ASSIGN(const Node dtype, node.get("scalar"));
  TS_ASSIGN(scalar.dtype, read_dtype(dtype));
  if (scalar.dtype == Dtype::f16 || scalar.dtype == Dtype::bf16)
    return dtype.error("a scalar is f64, f32 or an integer", "pass it as f32");
  TS_ASSIGN(const Node value, node.get("value"));
  TS_ASSIGN(scalar.value, read_expression(value, dimensions));
  return Argument(std::move(scalar));
}

Result<Shape> read_shape(const Node& node, const Case& c, bool weighted) {
  std::vector<std::string> known = c.dimension_names;
  known.emplace_back("name");
  if (weighted) known.emplace_back("weight");
  TS_TRY(node.only_keys(known));
  Shape shape;
  for (const std::string& dimension : c.dimension_names) {
    TS_ASSIGN(const Node value, node.get(dimension));
    TS_ASSIGN(const std::int64_t number, value.as_int());
    if (number <= 0)
      return value.error(fmt::format("dimension {} is {}, and must be at least 1", dimension, number));
    shape.dimensions.push_back(number);
    shape.name += fmt::format("{}{}={}", shape.name.empty() ? "" : " ", dimension, number);
  }
  if (shape.name.empty()) shape.name = "fixed";
  if (const auto name = node.find("name")) {
    TS_ASSIGN(shape.name, name->as_string());
    if (trim(shape.name).empty() || printable(shape.name) != shape.name ||
        shape.name.find('\n') != std::string::npos) {
      return name->error("must be one line of text");
    }
  }
  if (const auto weight = node.find("weight")) {
    TS_ASSIGN(shape.weight, finite(*weight));
    if (shape.weight <= 0)
      return weight->error(fmt::format("the weight is {}, and must be above 0", shape.weight),
                           "remove a shape that does not count");
  }
  return shape;
}

Status read_shape_list(const Node& node, const Case& c, bool weighted, std::vector<Shape>& into,
                       std::set<std::string>& names, std::set<std::vector<std::int64_t>>& seen) {
  TS_ASSIGN(const auto items, node.items());
  for (const Node& item : items) {
    TS_ASSIGN(Shape shape, read_shape(item, c, weighted));
    if (!seen.insert(shape.dimensions).second) {
      return item.error(fmt::format("the shape {} is given twice", shape.name),
                        weighted ? "give it once, with the sum of the weights"
                                 : "a held-out shape must differ from every scored one");
    }
    if (!names.insert(shape.name).second)
      return item.error(fmt::format("two shapes have the name \"{}\"", shape.name));
    into.push_back(std::move(shape));
  }
  return {};
}

}  // namespace

std::vector<space::Name> Context::dimension_names(const Case& c) const {
  std::vector<space::Name> names;
  for (const std::string& name : c.dimension_names) names.push_back({name, space::ValueKind::integer});
  return names;
}

Status read_dimensions(const Node& root, Case& c) {
  static const std::set<std::string> reserved = {"name",  "weight", "in",   "is",  "True", "False",
                                                 "None",  "min",    "max",  "abs", "ceil", "floor",
                                                 "round", "float",  "log2", "len", "int"};
  const auto node = root.find("dimensions");
  if (!node) return {};
  TS_ASSIGN(const auto items, node->items());
  for (const Node& item : items) {
    TS_ASSIGN(const std::string name, identifier(item, "the dimension"));
    if (reserved.contains(name))
      return item.error(fmt::format("\"{}\" means something else in shapes or formulas", name),
                        "choose another name");
    if (std::find(c.dimension_names.begin(), c.dimension_names.end(), name) != c.dimension_names.end()) {
      return item.error(fmt::format("the dimension {} is listed twice", name));
    }
    c.dimension_names.push_back(name);
  }
  return {};
}

Status read_shapes(const Node& root, Case& c) {
  std::set<std::string> names;
  std::set<std::vector<std::int64_t>> seen;
  TS_ASSIGN(const Node shapes, root.get("shapes"));
  TS_TRY(read_shape_list(shapes, c, true, c.shapes, names, seen));
  if (c.shapes.empty()) return shapes.error("must list at least one shape");
  if (const auto held_out = root.find("held_out_shapes"))
    TS_TRY(read_shape_list(*held_out, c, false, c.held_out_shapes, names, seen));
  return {};
}

Status read_arguments(const Node& root, const Context& context, Case& c) {
  TS_ASSIGN(const Node node, root.get("arguments"));
  TS_ASSIGN(const auto items, node.items());
  const auto dimensions = context.dimension_names(c);
  std::set<std::string> names;
  bool writes = false;
  for (const Node& item : items) {
    TS_ASSIGN(const Node name_node, item.get("name"));
    TS_ASSIGN(const std::string name, identifier(name_node, "the argument"));
    if (!names.insert(name).second)
      return name_node.error(fmt::format("two arguments have the name {}", name));
    if (c.space.parameter_index(name)) {
      return name_node.error(
          fmt::format("{} is also a parameter, and its macro would replace the argument's name", name),
          "rename one of them");
    }
    const bool buffer = item.find("buffer").has_value();
    if (buffer == item.find("scalar").has_value()) {
      return item.error(
          fmt::format("argument {} needs either \"buffer\" or \"scalar\", with its dtype", name));
    }
    TS_ASSIGN(Argument argument,
              buffer ? read_buffer(item, name, dimensions) : read_scalar(item, name, dimensions));
    if (const auto* b = std::get_if<Buffer>(&argument))
      writes = writes || b->role == Role::out || b->role == Role::inout;
    c.arguments.push_back(std::move(argument));
  }
  if (!writes)
    return node.error("no buffer has the role out or inout, so nothing could be checked",
                      "give the result's buffer the role \"out\"");
  return {};
}

Status read_work(const Node& root, const Context& context, Case& c) {
  const auto work = root.find("work");
  if (!work) return {};
  TS_TRY(work->only_keys({"flops", "bytes"}));
  const auto dimensions = context.dimension_names(c);
  if (const auto flops = work->find("flops")) {
    TS_ASSIGN(c.work.flops, read_expression(*flops, dimensions));
  }
  if (const auto bytes = work->find("bytes")) {
    TS_ASSIGN(c.work.bytes, read_expression(*bytes, dimensions));
  }
  return {};
}

namespace {

tl::unexpected<Error> at(const Node& node, Error error) {
  error.place = node.place();
  return tl::unexpected<Error>(std::move(error));
}

Status check_shape_amounts(const Node& root, const Case& c, const Shape& shape) {
  double bytes = 0;
  if (const auto node = root.find("arguments")) {
    TS_ASSIGN(const auto items, node->items());
    for (std::size_t i = 0; i < c.arguments.size(); ++i) {
      if (const auto* scalar = std::get_if<Scalar>(&c.arguments[i])) {
        if (const auto value = scalar_value(c, *scalar, shape); !value) return at(items[i], value.error());
        continue;
      }
      const auto& buffer = std::get<Buffer>(c.arguments[i]);
      const auto extent = buffer_extent(c, buffer, shape);
      if (!extent) return at(items[i], extent.error());
      double size = static_cast<double>(size_of(buffer.dtype));
      for (const std::int64_t side : *extent) size *= static_cast<double>(side);
      bytes += size;
    }
    if (bytes > static_cast<double>(c.limits.memory_bytes)) {
      return node->error(fmt::format("the buffers of shape \"{}\" take {:.0f} MiB, above the limit of {} MiB",
                                     shape.name, bytes / (1 << 20), c.limits.memory_bytes >> 20),
                         "raise limits.memory_mib or shrink the shape");
    }
  }
  if (const auto work = root.find("work")) {
    if (const auto flops = flops_of(c, shape); !flops) return at(*work, flops.error());
    if (const auto traffic = bytes_of(c, shape); !traffic) return at(*work, traffic.error());
  }
  return {};
}

}  // namespace

Status check_amounts(const Node& root, const Case& c) {
  for (const Shape& shape : c.shapes) TS_TRY(check_shape_amounts(root, c, shape));
  for (const Shape& shape : c.held_out_shapes) TS_TRY(check_shape_amounts(root, c, shape));
  return {};
}

}  // namespace tunesmith::reader
