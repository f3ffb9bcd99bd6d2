// What a run's winner becomes in the user's own tree: a header of #defines, JSON, a patch, and over several
// runs or shapes a table from shape to configuration.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "case/case.h"
#include "tune/journal.h"

namespace tunesmith::tune {

/// Include guard, provenance as a comment, `#ifndef NAME / #define NAME value / #endif` for each parameter.
[[nodiscard]] Result<std::string> config_header(const Case& c, const RunHeader& header, const Trial& trial);
[[nodiscard]] json::object config_json(const Case& c, const RunHeader& header, const Trial& trial);

struct DispatchRow {
  Shape shape;
  Trial trial;
};
/// The best configuration of each shape among the trials: their own figures on that shape, paired with the
/// incumbent's.
[[nodiscard]] std::vector<DispatchRow> best_per_shape(const Case& c, const std::vector<Trial>& trials);
/// A C header: one struct of parameters, one table, one lookup function (exact shape or null).
[[nodiscard]] Result<std::string> dispatch_header(const Case& c, const RunHeader& header,
                                                  const std::vector<DispatchRow>& rows);

/// Writes <folder>/<case>_config.h, <case>_config.json, <case>.patch (with a diff) and <case>_dispatch.h
/// (with more than one row). Returns the paths. A file that is there and that we did not write is never
/// overwritten.
[[nodiscard]] Result<std::vector<std::string>> apply_artefacts(const std::string& folder, const Case& c,
                                                               const RunHeader& header, const Trial& winner,
                                                               const std::vector<DispatchRow>& rows);

}  // namespace tunesmith::tune
