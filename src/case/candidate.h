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

/// Sources after the diff: absolute path of the original -> text, for every file of the case's source (files
/// and editable), patched or not; an empty diff gives them as they stand. A file header names an editable
/// file by any ending of its path (gemm.cpp, cpu/gemm.cpp), with or without a/ and b/. Errors are
/// FORBIDDEN_EDIT in words: a file that is not editable, a path with "..", an absolute path, a symlink, a
/// binary diff, a hunk that does not apply, a file that grows beyond 1 MiB.
[[nodiscard]] Result<std::map<std::string, std::string>> patched_sources(const Case& c,
                                                                         const std::string& diff);

/// Comments and white space do not make a candidate new: C/C++ text with comments removed and space folded
/// (string and character literals and preprocessor line ends kept). Two programs that differ only in what
/// __LINE__, assert or the # operator make of the layout count as one: a kernel's work must not hang on its
/// line numbers.
[[nodiscard]] std::string normalise_source(std::string_view text);

/// SHA-256 over normalised sources with the headers they include by "…", macros, flags, entry, argument types
/// and the compiler's version line. Equal identity is never built or charged twice.
[[nodiscard]] Result<std::string> candidate_identity(const Case& c, const Candidate& candidate,
                                                     const std::string& toolchain);

}  // namespace tunesmith
