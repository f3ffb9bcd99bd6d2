// The pieces of the case reader: each reads and checks one part of the file. Not for other rooms.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "case/case.h"
#include "case/flags.h"

namespace tunesmith::reader {

/// What the parts share while one file is read.
struct Context {
  std::string folder;  ///< of the case file; relative paths start here
  [[nodiscard]] std::vector<space::Name> dimension_names(const Case& c) const;
};

[[nodiscard]] std::string resolve(const Context& context, const std::string& path);
/// Folders that -I may point into: the case's and those of its sources.
[[nodiscard]] FlagFolders flag_folders(const Context& context, const std::vector<std::string>& files);
/// One of a fixed set of words; the error offers the nearest.
[[nodiscard]] Result<std::string> word_of(const Node& node, const std::vector<std::string>& words);
[[nodiscard]] Result<std::string> identifier(const Node& node, const char* what);

enum class SourceUse {
  candidate,
  library
};  ///< a library source set may carry flags with -l, and lists nothing editable
[[nodiscard]] Result<SourceSet> read_source(const Node& node, const Context& context, SourceUse use);
[[nodiscard]] Result<CommandLines> read_command(const Node& node, const Context& context, Case& c);
/// After the space: every value of a parameter that stands in a flag is put in and checked.
[[nodiscard]] Status read_flags(const Node& root, const Context& context, Case& c);

[[nodiscard]] Status read_dimensions(const Node& root, Case& c);
[[nodiscard]] Status read_shapes(const Node& root, Case& c);
[[nodiscard]] Status read_arguments(const Node& root, const Context& context, Case& c);
[[nodiscard]] Status read_work(const Node& root, const Context& context, Case& c);
/// Evaluates every extent, scalar and formula at every shape, and sums up the memory.
[[nodiscard]] Status check_amounts(const Node& root, const Case& c);

/// The case of backend "replay": name, recording, optional T1 description, optional baseline.
[[nodiscard]] Status read_replay(const Node& root, const Context& context, Case& c);
/// A recording, or a T1 file that names one, taken as a case by itself.
[[nodiscard]] Result<Case> case_of_recording(const std::string& path);

[[nodiscard]] Status read_space(const Node& root, Case& c);
[[nodiscard]] Status read_reference(const Node& root, const Context& context, Case& c);
[[nodiscard]] Status read_baseline(const Node& root, const Context& context, Case& c);
[[nodiscard]] Status read_limits(const Node& root, Case& c);
[[nodiscard]] Status read_tolerance(const Node& root, Case& c);

}  // namespace tunesmith::reader
