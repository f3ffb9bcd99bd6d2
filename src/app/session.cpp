#include "app/session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "base/file.h"
#include "base/random.h"
#include "bench/builder.h"
#include "bench/machine.h"

namespace tunesmith::app {

namespace {

/// The line that is part of every identity; "" for a backend that builds with the user's own tools.
Result<std::string> toolchain_of(const Case& c) {
  if (c.backend != "cpu") return std::string();
  TS_ASSIGN(const TempDir folder, TempDir::make());
  bench::Builder builder(c, folder.path(), "", bench::Defences{}, nullptr);
  return builder.toolchain(c.source.language);
}

/// Where the figures come from: for a replay that is not this machine.
Result<std::string> machine_of(const Case& c) {
  if (c.recording)
    return (c.recording->device.empty() ? "an unnamed device" : c.recording->device) + ", replayed";
  TS_ASSIGN(const bench::Machine machine, bench::machine_facts());
  return machine.cpu_model;
}

/// A recording that is its own case is named, not kept: it may be large, and no text at all.
Result<std::string> case_text(const Case& c) {
  if (c.recording &&
      std::find(c.recording->files.begin(), c.recording->files.end(), c.file) != c.recording->files.end())
    return print_json(json::object{{"name", c.name}, {"backend", c.backend}, {"recording", c.file}});
  return read_file(c.file);
}

}  // namespace

bool has_simulated_clock(const tune::RunHeader& header) {
  const json::value* flag = header.extra.if_contains("simulated_clock");
  return flag != nullptr && flag->is_bool() && flag->as_bool();
}

Result<tune::RunHeader> make_header(const Rules& rules, const Arguments& arguments, const RunPlan& plan) {
  const Case& c = *rules.of;
  tune::RunHeader header;
  header.case_name = c.name;
  header.case_file = c.file;
  header.case_sha256 = c.text_sha256;
  header.gate_sha256 = rules.gate.sha256();
  header.objective_sha256 = rules.objective.sha256();
  header.strategy = plan.strategy;
  header.seed = plan.seed;
  header.input_seed = secret_seed();
  header.evaluations = plan.evaluations;
  header.minutes = plan.minutes;
  header.batch = plan.batch;
  header.version = TUNESMITH_VERSION;
  header.started_utc = utc_now();
  TS_ASSIGN(header.toolchain, toolchain_of(c));
  TS_ASSIGN(header.machine, machine_of(c));
  TS_ASSIGN(header.extra["case"], case_text(c));
  if (c.recording) header.extra["replayed"] = c.recording->file;
  if (plan.no_improve > 0) header.extra["no_improve"] = plan.no_improve;
  if (plan.near_light > 0) header.extra["near_light"] = plan.near_light;
  if (plan.simulated_clock) header.extra["simulated_clock"] = true;
  header.extra["gate"] = rules.gate.to_json();
  header.extra["objective"] = rules.objective.to_json();
  header.extra["gate_file"] =
      arguments.has("--gate") ? absolute_path(arguments.text("--gate")) : std::string();
  header.extra["objective_file"] =
      arguments.has("--objective") ? absolute_path(arguments.text("--objective")) : std::string();
  header.extra["trust_self_reported"] = plan.trust_self_reported;
  header.extra["baseline"] = c.baseline.label;
  if (c.baseline.config) header.extra["baseline_config"] = c.space.to_json(*c.baseline.config);
  return header;
}

bench::BenchOptions bench_options(const tune::RunHeader& header, const std::string& run_folder,
                                  const std::atomic<bool>* stop) {
  bench::BenchOptions options;
  options.run_folder = run_folder;
  options.seed = header.seed;
  options.input_seed = header.input_seed;
  options.stop = stop;
  const json::value* trust = header.extra.if_contains("trust_self_reported");
  options.trust_self_reported = trust != nullptr && trust->is_bool() && trust->as_bool();
  return options;
}

Status refuse_existing(const std::string& path) {
  if (path.empty() || !exists(path)) return {};
  return fail(ErrorCode::conflict, "exists already, and a result is never overwritten",
              "give --out another name", Place{path, 0, 0, {}});
}

Status write_new_file(const std::string& path, const std::string& text) {
  TS_TRY(make_folders(parent_folder(path)));
  const std::string whole = fmt::format("{}.{}.new", path, getpid());
  TS_TRY(write_file_atomic(whole, text));
  // link() fails where a name exists: of two writers, one wins and the other is told.
  const int linked = link(whole.c_str(), path.c_str());
  const int number = errno;
  unlink(whole.c_str());
  if (linked == 0) return {};
  if (number == EEXIST) return refuse_existing(path);
  return fail(ErrorCode::io, fmt::format("cannot write: {}", errno_text(number)), "", Place{path, 0, 0, {}});
}

}  // namespace tunesmith::app
