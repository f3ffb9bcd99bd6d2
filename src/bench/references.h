// Expected outputs in float64: built-in problems here, or a source of the engineer's compiled apart.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/inputs.h"

namespace tunesmith::bench {

/// Shapes and argument roles of a built-in reference; the case reader checks `bind` against it.
struct BuiltinReference {
  std::string_view name;
  std::string_view summary;
  std::vector<std::string> roles;
  /// Computes set `set` of shape `shape` and stores it in its `expected`.
  Status (*compute)(const Case& c, InputPool& pool, std::size_t shape, std::size_t set);
};
[[nodiscard]] const std::vector<BuiltinReference>& builtin_references();

/// Fills in `expected` of every set with the case's built-in reference.
[[nodiscard]] Status compute_builtin(const Case& c, InputPool& pool);
/// Root mean square of the expected outputs, per argument, for each shape.
void compute_scales(InputPool& pool);

}  // namespace tunesmith::bench
