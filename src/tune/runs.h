// The runs folder: naming runs, finding them, result files, `latest`.
#pragma once

#include <optional>
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

/// The article's fields first (case, shape, dtype, latency_ms, tflops, max_abs_error, compile_fail, config),
/// then ours. Sealed with the header's key. Over several shapes, "shape" is "all" and latency and tflops are
/// weighted geometric means; "shapes" has each by itself. A failed build has no latency_ms, tflops or
/// max_abs_error.
[[nodiscard]] json::object result_json(const Case& c, const RunHeader& header, const Trial& trial,
                                       const bench::Opening* opening = nullptr);
/// Writes runs/<run>/results/<trial>.json, runs/<run>/result.json, and moves runs/latest and
/// <case>_latest.json atomically. A result that is there already is never overwritten by another content.
[[nodiscard]] Status publish(const std::string& root, const Case& c, const Journal& journal,
                             const Trial& trial);

/// --out: refuses a path at which another run's result, or a sealed one with other content, stands.
[[nodiscard]] Status write_result(const std::string& path, const json::object& result);

/// Adds "seal": {"run", "trial", "sha256"}, a keyed hash over everything else.
void seal(json::object& result, const std::string& run, std::int64_t trial, const std::string& key);
enum class Seal { sealed, unsealed, broken };
struct SealAnswer {
  Seal state = Seal::unsealed;
  std::string message;  ///< one line: "sealed by run …", "made by another program: it carries no seal", …
};
/// Looks the run up under `root` and compares with its key: only what this bench wrote, unchanged, is sealed.
[[nodiscard]] SealAnswer verify_seal(const json::object& result, const std::string& root);

/// Best first by what the run optimises; never failed, not finite, impossible, duplicate or unended trials.
[[nodiscard]] std::vector<Trial> top_trials(const std::vector<Trial>& trials, bool by_formula,
                                            std::size_t count);

struct Pruned {
  std::vector<std::string> removed;  ///< folders
  std::vector<std::string> kept;     ///< in use, or `latest` points at them
};
/// Removes the oldest runs: all but `keep` (nullopt: any number) that are older than `older_than_days`
/// (nullopt: any age). Never a run in use, never what `latest` or a <case>_latest.json points at.
[[nodiscard]] Result<Pruned> prune(const std::string& root, std::optional<std::size_t> keep,
                                   std::optional<double> older_than_days, bool dry_run = false);

}  // namespace tunesmith::tune
