// A comparison as a picture: evaluations across, how far above the optimum upward.
#pragma once

#include <string>

#include "search/compare.h"

namespace tunesmith::app {

/// An SVG of the strategies' curves and of random search; the vertical axis is logarithmic in
/// best / optimum - 1.
[[nodiscard]] std::string search_plot(const search::Comparison& comparison, std::size_t spaces,
                                      std::uint64_t seeds);

}  // namespace tunesmith::app
