// Which shapes of a case a result speaks of. People and other tools write a shape in many ways.
#pragma once

#include <string>
#include <vector>

#include "case/case.h"

namespace tunesmith::judge {

/// A result over every scored shape (weighted geometric means) carries this as its shape.
inline constexpr const char* k_all_shapes = "all";

/// Accepts a shape's own name, "m=8 n=2048", "batch8, heads128", "8x2048x2048", [8, 2048], {"m": 8, "n":
/// 2048} and "all". Empty when it is none of the case's scored or held-out shapes.
[[nodiscard]] std::vector<const Shape*> shapes_named(const Case& c, const json::value& shape);
/// The value as a person would read it, cut to one short line.
[[nodiscard]] std::string shape_label(const json::value& shape);

}  // namespace tunesmith::judge
