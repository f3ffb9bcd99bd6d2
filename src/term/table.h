// Aligned text tables, as a value that renders to a string:
//
//   Table table({{"shape"}, {"latency", Align::right}, {"speedup", Align::right}});
//   table.row({"8x2048x2048", "0.412 ms", style.green("1.58x")});
//   out += table.text();
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "term/style.h"

namespace tunesmith::term {

enum class Align { left, right };
enum class Lines {
  none,   ///< columns apart by two spaces, the header underlined
  box,    ///< rounded box
  ascii,  ///< the same with + - |, for terminals without UTF-8
};

struct Column {
  std::string title;
  Align align = Align::left;
  std::size_t limit = 0;  ///< longest width of a cell, cut with "…"; 0: none
};

class Table {
 public:
  explicit Table(std::vector<Column> columns);
  Table& title(std::string text);  ///< stands in the upper edge of a box, or above
  /// Missing cells are empty, extra ones are dropped. Newlines and control characters in a cell become
  /// visible escapes; colour sequences of Style pass.
  Table& row(std::vector<std::string> cells);
  Table& rule();  ///< a line between the rows before and after it
  [[nodiscard]] bool empty() const { return m_rows.empty(); }
  /// Ends with a newline. When it is wider than `columns` (0: no limit), the widest left-aligned columns
  /// shrink.
  [[nodiscard]] std::string text(Lines lines = Lines::box, const Style& style = Style(false),
                                 std::size_t columns = 0) const;

 private:
  std::vector<Column> m_columns;
  std::string m_title;
  std::vector<std::optional<std::vector<std::string>>> m_rows;  ///< nothing: a rule
};

}  // namespace tunesmith::term
