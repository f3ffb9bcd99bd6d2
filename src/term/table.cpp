#include "term/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "term/width.h"

namespace tunesmith::term {

namespace {

// Below this a cut cell tells nothing.
constexpr std::size_t k_least_width = 6;

struct Strokes {
  std::string_view across, down;
  std::string_view top[3], middle[3], bottom[3];  ///< left, cross, right
};

constexpr Strokes k_round{"─", "│", {"╭", "┬", "╮"}, {"├", "┼", "┤"}, {"╰", "┴", "╯"}};
constexpr Strokes k_ascii{"-", "|", {"+", "+", "+"}, {"+", "+", "+"}, {"+", "+", "+"}};

/// Colour sequences pass; whatever else could move the cursor becomes visible.
std::string tame(std::string_view cell) {
  std::string out;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    const auto byte = static_cast<unsigned char>(cell[i]);
    if (byte == 0x1B && i + 1 < cell.size() && cell[i + 1] == '[') {
      const std::size_t end = cell.find_first_not_of("0123456789;", i + 2);
      if (end != std::string_view::npos && cell[end] == 'm') {
        out += cell.substr(i, end - i + 1);
        i = end;
        continue;
      }
    }
    if (byte == '\n') {
      out += "\\n";
    } else if (byte == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += cell[i];
    }
  }
  return out;
}

std::string repeat(std::string_view piece, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += piece;
  return out;
}

std::string aligned(const std::string& cell, const Column& column, std::size_t columns) {
  const std::string cut = fit(cell, columns);
  return column.align == Align::right ? pad_left(cut, columns) : pad_right(cut, columns);
}

/// Takes columns away until the sum is small enough: from the widest text column, then from the widest of
/// all.
void shrink(std::vector<std::size_t>& widths, const std::vector<Column>& columns, std::size_t room) {
  while (std::accumulate(widths.begin(), widths.end(), std::size_t{0}) > room) {
    std::size_t victim = widths.size();
    for (const bool any : {false, true}) {
      for (std::size_t i = 0; i < widths.size(); ++i) {
        if (widths[i] <= k_least_width || (!any && columns[i].align == Align::right)) continue;
        if (victim == widths.size() || widths[i] > widths[victim]) victim = i;
      }
      if (victim < widths.size()) break;
    }
    if (victim == widths.size()) return;
    --widths[victim];
  }
}

std::string edge(const Strokes& strokes, const std::string_view (&ends)[3],
                 const std::vector<std::size_t>& widths) {
  std::string out(ends[0]);
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (i > 0) out += ends[1];
    out += repeat(strokes.across, widths[i] + 2);
  }
  return out += ends[2];
}

std::string title_edge(const Strokes& strokes, const std::string& title,
                       const std::vector<std::size_t>& widths, const Style& style) {
  // Two corners, and two columns of padding and one line for each column but the last.
  const std::size_t inner =
      std::accumulate(widths.begin(), widths.end(), std::size_t{0}) + 3 * widths.size() - 1;
  if (inner < 8) return style.dim(edge(strokes, strokes.top, widths));
  const std::string text = fit(title, inner - 4);
  return style.dim(std::string(strokes.top[0]) + std::string(strokes.across)) + " " + style.bold(text) + " " +
         style.dim(repeat(strokes.across, inner - 3 - width(text)) + std::string(strokes.top[2]));
}

}  // namespace

Table::Table(std::vector<Column> columns) : m_columns(std::move(columns)) {
  for (Column& column : m_columns) column.title = tame(column.title);
}

Table& Table::title(std::string text) {
  m_title = tame(text);
  return *this;
}

Table& Table::row(std::vector<std::string> cells) {
  cells.resize(m_columns.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i] = tame(cells[i]);
    if (m_columns[i].limit > 0) cells[i] = fit(cells[i], m_columns[i].limit);
  }
  m_rows.emplace_back(std::move(cells));
  return *this;
}

Table& Table::rule() {
  m_rows.emplace_back(std::nullopt);
  return *this;
}

std::string Table::text(Lines lines, const Style& style, std::size_t columns) const {
  if (m_columns.empty()) return {};
  const bool boxed = lines != Lines::none;
  const Strokes& strokes = lines == Lines::ascii ? k_ascii : k_round;
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < m_columns.size(); ++i) {
    std::size_t widest = width(m_columns[i].title);
    for (const auto& cells : m_rows) widest = std::max(widest, cells ? width((*cells)[i]) : 0);
    widths.push_back(widest);
  }
  const std::size_t frame = boxed ? 3 * widths.size() + 1 : 2 * (widths.size() - 1);
  // A box grows to its title (with corner, stroke and spaces at both ends); a terminal that is too narrow
  // cuts it.
  const std::size_t total = frame + std::accumulate(widths.begin(), widths.end(), std::size_t{0});
  if (boxed && !m_title.empty() && total < width(m_title) + 6) widths.back() += width(m_title) + 6 - total;
  if (columns > frame) shrink(widths, m_columns, columns - frame);

  const auto line = [&](const std::vector<std::string>& cells, bool header) {
    std::string out = boxed ? style.dim(strokes.down) + " " : "";
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (i > 0) out += boxed ? " " + style.dim(strokes.down) + " " : "  ";
      const std::string cell = aligned(cells[i], m_columns[i], widths[i]);
      out += header ? style.bold(cell) : cell;
    }
    if (boxed) return out + " " + style.dim(strokes.down) + "\n";
    out.erase(out.find_last_not_of(' ') + 1);
    return out + "\n";
  };
  const auto divider = [&] {
    if (boxed) return style.dim(edge(strokes, strokes.middle, widths)) + "\n";
    std::string out;
    for (std::size_t i = 0; i < widths.size(); ++i) out += (i > 0 ? "  " : "") + repeat("─", widths[i]);
    return style.dim(out) + "\n";
  };

  std::string out;
  if (boxed) {
    out += m_title.empty() ? style.dim(edge(strokes, strokes.top, widths))
                           : title_edge(strokes, m_title, widths, style);
    out += "\n";
  } else if (!m_title.empty()) {
    out += style.bold(m_title) + "\n";
  }
  std::vector<std::string> titles;
  for (const Column& column : m_columns) titles.push_back(column.title);
  out += line(titles, true);
  out += divider();
  for (const auto& cells : m_rows) out += cells ? line(*cells, false) : divider();
  if (boxed) out += style.dim(edge(strokes, strokes.bottom, widths)) + "\n";
  return out;
}

}  // namespace tunesmith::term
