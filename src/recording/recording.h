// A recording: a space whose points were measured once, so that searching it can be repeated without the
// device. Read from many formats (formats.h lists them), found by their contents; written as T4 or as our
// own. Times are in milliseconds. What failed is a failure: a NaN, zero, negative or missing time is never a
// number.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "space/space.h"

namespace tunesmith::recording {

/// What came of one configuration.
enum class Outcome {
  ok,              ///< built, ran, right, and timed
  compile_failed,  ///< the compiler or linker refused it
  runtime_failed,  ///< it could not be launched, or it crashed
  wrong_result,    ///< it ran and its result was wrong
  timed_out,       ///< building or running took too long
  refused,         ///< the tool or device refused it before anything was built
  no_time,         ///< said to be fine, but its time is NaN, zero, negative or missing
};
[[nodiscard]] const char* name_of(Outcome status);  ///< "compile_failed"
[[nodiscard]] std::optional<Outcome> status_from_name(std::string_view name);

constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();

struct Entry {
  space::Config config;
  Outcome status = Outcome::no_time;
  double time_ms = k_nan;  ///< finite and above zero when ok, NaN otherwise
  /// What the recording optimises: time_ms unless Recording::objective says otherwise. Finite when ok, NaN
  /// otherwise.
  double value = k_nan;
  std::vector<double> samples_ms;  ///< raw repeats, where recorded and where their mean is time_ms
  double compile_ms = 0, verify_ms = 0, bench_ms = 0;  ///< 0 when not recorded
  std::string reason;                                  ///< one printable line; may be empty

  [[nodiscard]] bool ok() const { return status == Outcome::ok; }
  /// What this evaluation cost when it was recorded.
  [[nodiscard]] double cost_ms() const { return compile_ms + verify_ms + bench_ms; }
};

struct Recording {
  std::string name;                ///< of the file without folder and endings: "gemm_RTX_2080_Ti"
  std::string kernel;              ///< may be empty
  std::string device;              ///< may be empty
  std::string file;                ///< absolute path
  std::vector<std::string> files;  ///< all that were read: a compact pair is two
  std::string format;              ///< "kernel-tuner", "compact", "ktt", "t4", "tunesmith"
  std::string objective = "time";
  bool maximise = false;
  /// The legal configurations, each of which is in `entries`: declared parameters and constraints where the
  /// file has them; where it lacks some of their points, or has no constraints, exactly the points it holds.
  space::Space space;
  std::vector<Entry> entries;      ///< one per configuration, in the space's order: entries[i] is space.at(i)
  std::vector<std::string> notes;  ///< for people: torn records, duplicates, points outside the constraints
  double lowest = k_nan, highest = k_nan;  ///< of the values of all that is ok
  std::optional<space::Config> baseline;   ///< of our own recordings: what all others were paired with

  /// nullptr when the configuration is not legal.
  [[nodiscard]] const Entry* find(const space::Config& config) const;
  /// The best entry by `value`; nullptr when everything failed. Ties: the first.
  [[nodiscard]] const Entry* best_entry() const;
  /// Its value.
  [[nodiscard]] std::optional<double> best() const;
  /// `value` as a cost above 0, so that logarithms and ratios of it make sense: lower is better whichever way
  /// the objective goes. The value itself, its reciprocal when it is to be maximised, and where any value is
  /// not above 0, exp of its place between the extremes. NaN for a failure.
  [[nodiscard]] double cost_of(const Entry& entry) const;
  [[nodiscard]] std::size_t failures() const;
};

/// Reads any known format; gzip is seen by its first bytes. A compact pair may be named by either file
/// (NAME.json or NAME.csv.gz). Torn files give every whole record and a note; a file without any whole record
/// is an error that says what it is.
[[nodiscard]] Result<Recording> read_recording(const std::string& path);

/// The same with the space that a T1 file describes: its parameters, in its order, and its constraints.
[[nodiscard]] Result<Recording> read_recording(const std::string& path, const std::string& t1_path);
/// Whether the file holds a recording of any known format, whole or torn. False for what cannot be read.
[[nodiscard]] bool is_recording(const std::string& path);

/// A T1 file as far as replay needs it: the community's description of a tuning problem.
struct Problem {
  std::string name, kernel, device;
  space::Space space;
  std::string recording;  ///< absolute path of its SimulationInput; empty when it names none
};
[[nodiscard]] bool is_t1(const std::string& path);
[[nodiscard]] Result<Problem> read_t1(const std::string& path);

}  // namespace tunesmith::recording
