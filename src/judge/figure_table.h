// The figures that a gate may name: one line each, with their kind and the reason code when the bound is
// broken.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "case/reason.h"

namespace tunesmith::judge {

struct FigureInfo {
  std::string_view name;
  std::string_view kind;  ///< "numerical", "performance" or "engineering"
  Reason reason;
  /// The bound that goes without saying, when the gate states none.
  std::optional<double> at_most, at_least;
  bool boolean = false;  ///< true or false in a result; counts as 1 or 0
};

[[nodiscard]] const std::vector<FigureInfo>& figure_table();
[[nodiscard]] const FigureInfo* find_figure(std::string_view name);  ///< null when unknown
[[nodiscard]] std::vector<std::string> figure_names();

}  // namespace tunesmith::judge
