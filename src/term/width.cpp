#include "term/width.h"

#include <algorithm>
#include <array>

namespace tunesmith::term {

namespace {

struct Range {
  char32_t first, last;
};

// The blocks that matter in practice, after Unicode's EastAsianWidth and general category Mn.
constexpr std::array k_wide{
    Range{0x1100, 0x115F},   Range{0x231A, 0x231B},   Range{0x23E9, 0x23EC},  Range{0x25FD, 0x25FE},
    Range{0x2614, 0x2615},   Range{0x26A1, 0x26A1},   Range{0x2705, 0x2705},  Range{0x2728, 0x2728},
    Range{0x274C, 0x274C},   Range{0x2753, 0x2755},   Range{0x2795, 0x2797},  Range{0x2E80, 0x303E},
    Range{0x3041, 0xA4CF},   Range{0xA960, 0xA97F},   Range{0xAC00, 0xD7A3},  Range{0xF900, 0xFAFF},
    Range{0xFE30, 0xFE6F},   Range{0xFF00, 0xFF60},   Range{0xFFE0, 0xFFE6},  Range{0x1F300, 0x1F64F},
    Range{0x1F680, 0x1F6FF}, Range{0x1F900, 0x1FAFF}, Range{0x20000, 0x3FFFD}};
constexpr std::array k_zero{Range{0x0300, 0x036F}, Range{0x0483, 0x0489},  Range{0x0591, 0x05BD},
                            Range{0x064B, 0x065F}, Range{0x1AB0, 0x1AFF},  Range{0x1DC0, 0x1DFF},
                            Range{0x200B, 0x200F}, Range{0x202A, 0x202E},  Range{0x2060, 0x2064},
                            Range{0x20D0, 0x20FF}, Range{0xFE00, 0xFE0F},  Range{0xFE20, 0xFE2F},
                            Range{0xFEFF, 0xFEFF}, Range{0xE0100, 0xE01EF}};

template <std::size_t N>
bool in(const std::array<Range, N>& ranges, char32_t c) {
  return std::any_of(ranges.begin(), ranges.end(), [c](Range r) { return r.first <= c && c <= r.last; });
}

/// One piece of a text: a colour sequence or a character.
struct Piece {
  std::size_t bytes = 1;
  std::size_t columns = 1;
  bool escape = false;
};

Piece first_piece(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead == 0x1B && text.size() > 1 && text[1] == '[') {
    std::size_t end = 2;
    while (end < text.size() && (text[end] < 0x40 || text[end] > 0x7E)) ++end;
    return {std::min(end + 1, text.size()), 0, true};
  }
  if (lead < 0x20 || lead == 0x7F) return {1, 0, false};
  if (lead < 0x80) return {1, 1, false};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  if (bytes == 1 || bytes > text.size()) return {};  // not UTF-8: terminals show one mark
  char32_t c = lead & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0U) != 0x80U) return {};
    c = (c << 6U) | (next & 0x3FU);
  }
  if (in(k_zero, c)) return {bytes, 0, false};
  return {bytes, in(k_wide, c) ? 2U : 1U, false};
}

}  // namespace

std::size_t width(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const Piece piece = first_piece(text);
    columns += piece.columns;
    text.remove_prefix(piece.bytes);
  }
  return columns;
}

std::string fit(std::string_view text, std::size_t columns) {
  if (width(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  std::string out;
  std::size_t used = 0;
  bool colored = false;
  while (!text.empty()) {
    const Piece piece = first_piece(text);
    if (used + piece.columns > columns - 1) break;  // one column is the mark's
    const std::string_view bytes = text.substr(0, piece.bytes);
    if (piece.escape) colored = bytes != "\x1b[0m";
    out += bytes;
    used += piece.columns;
    text.remove_prefix(piece.bytes);
  }
  out += "…";
  if (colored) out += "\x1b[0m";
  return out;
}

std::string pad_right(std::string_view text, std::size_t columns) {
  const std::size_t used = width(text);
  return std::string(text) + std::string(used < columns ? columns - used : 0, ' ');
}

std::string pad_left(std::string_view text, std::size_t columns) {
  const std::size_t used = width(text);
  return std::string(used < columns ? columns - used : 0, ' ') + std::string(text);
}

}  // namespace tunesmith::term
