// Reading a kernel's source well enough to write a first case for it. Everything here is a guess and is said
// to be one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace tunesmith::app {

struct GuessedArgument {
  std::string name;
  std::string type;  ///< dtype name: "f32", "i32", …
  bool pointer = false;
  std::string role;  ///< of a pointer: "in", "out" or "inout"
  std::vector<std::string>
      sides;  ///< of a pointer: dimensions that its subscripts run over; empty when unknown
};

struct GuessedParameter {
  std::string name;
  std::string fallback;  ///< the source's own default, as written
  int line = 0;
  bool is_switch = false;  ///< the source only asks whether it is set: #if NAME, if (NAME), !NAME
};

struct GuessedKernel {
  std::string entry;
  std::string language;  ///< "c" or "c++"
  std::vector<GuessedArgument> arguments;
  std::vector<GuessedParameter> parameters;  ///< macros with an #ifndef default
  bool vector_code = false;  ///< intrinsics or vector types: no double twin by replacing words
};

/// `entry`: "" = the first function with C linkage. Errors name the line that could not be understood.
[[nodiscard]] Result<GuessedKernel> guess_kernel(std::string_view source, const std::string& file,
                                                 const std::string& entry);

struct GuessedCase {
  json::object json;
  std::vector<std::string> guesses;  ///< one line each, for people
};
/// `reference_file`: a source of the same entry that runs in float64, relative to the case.
[[nodiscard]] GuessedCase guess_case(const GuessedKernel& kernel, const std::string& name,
                                     const std::string& source_file, const std::string& reference_file);

/// The kernel with float and double written as `real`, so that the reference runs it in float64.
[[nodiscard]] std::string double_twin(std::string_view source);

}  // namespace tunesmith::app
