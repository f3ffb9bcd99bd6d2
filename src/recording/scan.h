// Walks JSON text piece by piece, so that a file which is torn, never closed or damaged in the middle still
// gives every whole piece. Tolerates what other programs write beside strict JSON: NaN, Infinity, a missing
// comma or bracket at the end.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace tunesmith::recording {

/// Where offsets stand, for people: "line 12, column 3". One pass over the text, then cheap.
class Lines {
 public:
  explicit Lines(std::string_view text);
  [[nodiscard]] std::string at(std::size_t offset) const;

 private:
  std::vector<std::size_t> m_begins;
};

/// One member of an object or item of an array: its span in the text.
struct Piece {
  std::string key;  ///< empty for items
  std::size_t offset = 0;
  std::string_view text;
};

/// How far a walk came.
struct Walk {
  bool closed = false;  ///< the bracket that ends it was found
  std::size_t end = 0;  ///< offset behind it, or where the walk had to stop
  std::string fault;    ///< why it stopped, when not closed: "ends inside a record"
  std::size_t fault_at = 0;
  std::optional<std::string> broken_key;  ///< of the member whose value is not whole
  std::size_t broken_at = 0;              ///< where that value begins
};

/// Visits the pieces of the object or array that opens at `offset` until `visit` returns false. A piece is
/// whole only when its brackets and quotes close; the walk stops at the first that is not.
[[nodiscard]] Walk walk(std::string_view text, std::size_t offset,
                        const std::function<bool(const Piece&)>& visit);
/// The same for records: behind a damaged one it goes on at the next line that begins as the first record
/// did. Returns one line for each damage, with its position.
[[nodiscard]] std::vector<std::string> walk_records(std::string_view text, std::size_t offset,
                                                    const Lines& lines,
                                                    const std::function<void(const Piece&)>& visit);

/// One value; NaN and infinities read as null. Strict otherwise, except for repeated keys (the last counts).
[[nodiscard]] std::optional<json::value> parse_piece(std::string_view text);

}  // namespace tunesmith::recording
