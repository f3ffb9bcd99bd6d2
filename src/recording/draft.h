// What a reader finds in a file, before it is a recording: names, values as they stand, constraints as text.
// finish() makes the space and the entries of it by one set of rules for all formats.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "recording/recording.h"
#include "recording/scan.h"

namespace tunesmith::recording {

struct Record {
  std::vector<space::Value> values;  ///< in the order of Draft::parameters
  Entry entry;                       ///< without its configuration; status, times and value as recorded
  std::string position;              ///< "line 12, column 3"
};

struct Draft {
  std::string kernel, device, objective = "time";
  std::string format;
  std::vector<std::string> files;
  bool maximise = false;
  std::vector<space::Parameter> parameters;  ///< without values: those that the records have
  bool declared = false;                     ///< the parameters list their values
  std::vector<space::Space::Constraint> constraints;
  std::vector<Record> records;
  std::vector<std::string> notes;
  std::optional<std::vector<space::Value>> baseline;
};

/// Rules: the last of several records of one configuration counts; what breaks a constraint or has an
/// undeclared value is left out; each is told in a note. No record left is an error.
[[nodiscard]] Result<Recording> finish(Draft draft, const std::string& path);

/// Puts a measured time in: a finite number above 0 is ok, anything else is Outcome::no_time.
void set_time(Entry& entry, std::optional<double> time_ms);
/// Keeps raw repeats when their mean is the time (within 1 %): elsewhere they are of another measurement.
void set_samples(Entry& entry, std::vector<double> samples_ms);
/// A failure word of another tool ("CompilationFailedConfig", "timeout", …) as a status.
[[nodiscard]] Outcome status_of_word(std::string_view word);
/// Units of rates are better when larger: GFLOP/s, GB/s, GFLOPS/W.
[[nodiscard]] bool is_rate(std::string_view objective);

/// An object of name -> list of values, as our own and the compact form declare a space.
[[nodiscard]] Result<std::vector<space::Parameter>> read_parameters(const Node& parameters);
/// true/false, whole numbers, reals and strings; nullopt for anything else.
[[nodiscard]] std::optional<space::Value> value_of(const json::value& value);
[[nodiscard]] std::optional<double> number_in(const json::object& object, std::string_view key);
[[nodiscard]] std::string text_in(const json::object& object, std::string_view key);
[[nodiscard]] std::vector<double> numbers_in(const json::object& object, std::string_view key);

}  // namespace tunesmith::recording
