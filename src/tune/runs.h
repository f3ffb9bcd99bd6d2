// The runs folder: naming runs, finding them, result files, `latest`.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "tune/journal.h"
#include "tune/loop.h"

namespace tunesmith::tune {

/// $TUNESMITH_RUNS or ./runs.
[[nodiscard]] std::string runs_root();
/// runs/<case>-<utc>-<4 hex>, made with mode 0700.
[[nodiscard]] Result<std::string> new_run_folder(const std::string& root, const std::string& case_name);
/// A name, a unique prefix, a path or "latest" -> folder.
[[nodiscard]] Result<std::string> find_run(const std::string& root, const std::string& name);
[[nodiscard]] std::vector<std::string> list_runs(const std::string& root);  ///< folders, oldest first

/// The article's fields first (case, shape, dtype, latency_ms, tflops, max_abs_error, compile_fail, config), then ours.
/// Sealed: carries the run, trial and a SHA-256 over its contents and the journal's key.
[[nodiscard]] json::object result_json(const Case& c, const RunHeader& header, const Trial& trial, const bench::Opening* opening = nullptr);
/// Writes runs/<run>/results/<trial>.json, runs/<run>/result.json, and moves runs/latest and <case>_latest.json atomically.
[[nodiscard]] Status publish(const std::string& root, const Case& c, const Journal& journal, const Trial& trial);

}  // namespace tunesmith::tune
