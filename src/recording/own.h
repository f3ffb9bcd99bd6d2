// Our own recordings: JSON lines, so that a file grows by appending and a torn tail costs one line. The first
// line is a header; docs/recordings.md and schemas/recording.schema.json describe both.
#pragma once

#include <optional>
#include <string>

#include "recording/recording.h"

namespace tunesmith::recording {

struct Header {
  std::string name, kernel, device, objective = "time";
  bool maximise = false;
  std::vector<space::Parameter> parameters;
  std::vector<std::string> constraints;
  std::optional<json::object> baseline;  ///< configuration that every other was paired with
  double baseline_ms = 0;                ///< its time; 0 when there is none
  json::object extra;                    ///< what else explains the recording: case, machine, compiler, flags
};

[[nodiscard]] std::string header_line(const Header& header);  ///< ends with a newline
[[nodiscard]] Result<Header> header_from(const std::string& line, const std::string& file);
/// One configuration; ends with a newline. `config` has a value for every parameter.
[[nodiscard]] std::string entry_line(const json::object& config, const Entry& entry);

}  // namespace tunesmith::recording
