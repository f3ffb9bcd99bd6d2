// Unified diffs, applied strictly: a hunk must match the text exactly, at most a few lines away from where it
// says.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace tunesmith {

struct DiffLine {
  char kind = ' ';   ///< ' ', '-' or '+'
  std::string text;  ///< without the line end
  bool no_newline = false;
};

struct Hunk {
  std::int64_t old_start = 0, old_count = 0, new_start = 0, new_count = 0;
  int line = 0;  ///< of its header in the diff, from 1
  std::vector<DiffLine> lines;
};

struct FileDiff {
  std::string path;  ///< as written, without a/ or b/
  int line = 0;      ///< of its "---" line
  std::vector<Hunk> hunks;
};

/// Refused: creation, deletion, renaming, copying, mode changes, binary patches, text between the parts,
/// wrong counts.
[[nodiscard]] Result<std::vector<FileDiff>> parse_diff(const std::string& diff);

/// The patched text. Line ends of the file are kept, CRLF too, whatever ends the lines of the diff.
[[nodiscard]] Result<std::string> apply_hunks(const std::string& text, const FileDiff& file);

}  // namespace tunesmith
