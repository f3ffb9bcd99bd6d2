// The table of formats: one file and one line each. A format is found by what the file holds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "recording/draft.h"

namespace tunesmith::recording {

/// A file, unpacked.
struct Source {
  std::string path;  ///< absolute
  std::string text;
  std::string fault;  ///< of the gzip stream; empty when whole
};
[[nodiscard]] Result<Source> open_source(const std::string& path);

/// Keys of the object that a JSON text begins with, as far as it is whole, with the offset of each value.
struct Outline {
  std::vector<Piece> members;   ///< whole ones
  std::optional<Piece> broken;  ///< the last one, when its value is torn: key and offset of the value
  [[nodiscard]] const Piece* find(std::string_view key) const;
  /// Offset of the value under this key, whole or torn.
  [[nodiscard]] std::optional<std::size_t> value_at(std::string_view key) const;
};
[[nodiscard]] Outline outline_of(std::string_view text);

struct Format {
  std::string_view name;
  std::string_view summary;
  bool (*fits)(const Source& source, const Outline& outline);
  Result<Draft> (*read)(const Source& source, const Outline& outline);
};
[[nodiscard]] const std::vector<Format>& format_table();

// One file each.
[[nodiscard]] const Format& own_format();
[[nodiscard]] const Format& compact_format();
[[nodiscard]] const Format& kernel_tuner_format();
[[nodiscard]] const Format& t4_format();
[[nodiscard]] const Format& ktt_format();

/// T1 says what may vary and holds no result (recording.h reads it).
[[nodiscard]] bool is_t1(const Outline& outline);

}  // namespace tunesmith::recording
