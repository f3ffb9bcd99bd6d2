// A candidate: a configuration, or a configuration and a unified diff on the case's editable files.
#pragma once

#include <map>
#include <string>

#include "case/case.h"
#include "space/space.h"

namespace tunesmith {

struct Candidate {
  space::Config config;
  std::string diff;  ///< unified diff; empty for none
};

/// Sources after the diff: absolute path of the original -> text. Errors are FORBIDDEN_EDIT in words:
/// a file that is not editable, a path with "..", an absolute path, a symlink, a binary diff, a hunk that does not apply,
/// a file that grows beyond 1 MiB.
[[nodiscard]] Result<std::map<std::string, std::string>> patched_sources(const Case& c, const std::string& diff);

/// Comments and white space do not make a candidate new: C/C++ text with comments removed and space folded
/// (string and character literals and preprocessor line ends kept).
[[nodiscard]] std::string normalise_source(std::string_view text);

/// SHA-256 over normalised sources, macros, flags, entry and the compiler's version line. Equal identity is
/// never built or charged twice.
[[nodiscard]] Result<std::string> candidate_identity(const Case& c, const Candidate& candidate, const std::string& toolchain);

}  // namespace tunesmith
