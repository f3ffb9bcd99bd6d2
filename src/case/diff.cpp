#include "case/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/text.h"

namespace tunesmith {

namespace {

/// A model that quotes a file miscounts by a few lines; farther away, a match is more likely a wrong one.
constexpr std::int64_t k_most_offset = 20;

tl::unexpected<Error> at_line(int line, std::string message, std::string mend = {}) {
  return fail(ErrorCode::invalid, std::move(message), std::move(mend), Place{"diff", line, 0, {}});
}

bool read_number(std::string_view& text, std::int64_t& into) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  if (error != std::errc() || end == text.data() || into < 0 || into > 100'000'000) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool skip(std::string_view& text, std::string_view what) {
  if (!text.starts_with(what)) return false;
  text.remove_prefix(what.size());
  return true;
}

/// "@@ -3,4 +3,5 @@ context": a missing count is 1.
bool read_hunk_header(std::string_view text, Hunk& hunk) {
  hunk.old_count = hunk.new_count = 1;
  if (!skip(text, "@@ -") || !read_number(text, hunk.old_start)) return false;
  if (skip(text, ",") && !read_number(text, hunk.old_count)) return false;
  if (!skip(text, " +") || !read_number(text, hunk.new_start)) return false;
  if (skip(text, ",") && !read_number(text, hunk.new_count)) return false;
  return skip(text, " @@") && (text.empty() || text.front() == ' ');
}

/// The path of a "--- a/x.cpp<tab>time" line.
std::string header_path(std::string_view line) {
  line.remove_prefix(4);
  line = line.substr(0, line.find('\t'));
  return std::string(trim(line));
}

std::string strip_prefix(const std::string& path) {
  return path.starts_with("a/") || path.starts_with("b/") ? path.substr(2) : path;
}

class Parser {
 public:
  explicit Parser(const std::string& diff) : m_lines(split_lines(diff)) {}

  Result<std::vector<FileDiff>> run() {
    std::vector<FileDiff> files;
    std::set<std::string> paths;
    while (m_at < m_lines.size()) {
      const std::string_view line = m_lines[m_at];
      if (line.starts_with("--- ")) {
        TS_ASSIGN(FileDiff file, read_file_diff());
        if (!paths.insert(file.path).second)
          return at_line(file.line, fmt::format("{} is patched twice", file.path),
                         "put its hunks under one header");
        files.push_back(std::move(file));
        continue;
      }
      TS_TRY(check_preamble(line));
      ++m_at;
    }
    if (files.empty())
      return at_line(1, "holds no file header", "begin with \"--- a/FILE\" and \"+++ b/FILE\"");
    return files;
  }

 private:
  int line_number() const { return static_cast<int>(m_at) + 1; }

  Status check_preamble(std::string_view line) const {
    constexpr std::pair<std::string_view, std::string_view> refused[] = {
        {"new file mode", "a diff may not create a file"},
        {"deleted file mode", "a diff may not delete a file"},
        {"rename ", "a diff may not rename a file"},
        {"copy ", "a diff may not copy a file"},
        {"old mode", "a diff may not change a file's mode"},
        {"new mode", "a diff may not change a file's mode"},
        {"GIT binary patch", "a binary diff is not allowed"},
        {"Binary files", "a binary diff is not allowed"},
        {"similarity index", "a diff may not rename a file"}};
    for (const auto& [start, why] : refused) {
      if (line.starts_with(start))
        return at_line(line_number(), std::string(why), "change the text of the listed files only");
    }
    if (line.starts_with("@@"))
      return at_line(line_number(), "a hunk stands before its file header",
                     "put \"--- a/FILE\" and \"+++ b/FILE\" before it");
    if (trim(line).empty() || line.starts_with("diff ") || line.starts_with("index ")) return {};
    return at_line(line_number(),
                   fmt::format("\"{}\" is no part of a unified diff", cut(printable(line), 60)),
                   "give the diff alone, and count the hunks' lines");
  }

  Result<FileDiff> read_file_diff() {
    FileDiff file;
    file.line = line_number();
    const std::string before = header_path(m_lines[m_at++]);
    if (m_at >= m_lines.size() || !m_lines[m_at].starts_with("+++ "))
      return at_line(line_number(), "\"---\" is not followed by \"+++\"");
    const std::string after = header_path(m_lines[m_at++]);
    if (before == "/dev/null")
      return at_line(file.line, "a diff may not create a file", "change the listed files only");
    if (after == "/dev/null")
      return at_line(file.line, "a diff may not delete a file", "change the listed files only");
    file.path = strip_prefix(before);
    if (file.path != strip_prefix(after))
      return at_line(file.line,
                     fmt::format("{} would become {}: a diff may not rename a file", before, after));
    while (m_at < m_lines.size() && m_lines[m_at].starts_with("@@")) {
      TS_ASSIGN(Hunk hunk, read_hunk());
      file.hunks.push_back(std::move(hunk));
    }
    if (file.hunks.empty())
      return at_line(file.line, fmt::format("{} has no hunk", file.path),
                     "a hunk begins with \"@@ -l,n +l,n @@\"");
    return file;
  }

  Result<Hunk> read_hunk() {
    Hunk hunk;
    hunk.line = line_number();
    if (!read_hunk_header(m_lines[m_at], hunk)) {
      return at_line(hunk.line, fmt::format("\"{}\" is no hunk header", cut(printable(m_lines[m_at]), 60)),
                     "write \"@@ -line,count +line,count @@\"");
    }
    ++m_at;
    std::int64_t old_left = hunk.old_count;
    std::int64_t new_left = hunk.new_count;
    while (old_left > 0 || new_left > 0) {
      if (m_at >= m_lines.size())
        return at_line(hunk.line, "the hunk ends before its counts are met", "count its lines again");
      const std::string_view line = m_lines[m_at];
      // Mail and editors strip the one space of an empty context line.
      const char kind = line.empty() ? ' ' : line.front();
      const std::string_view text = line.empty() ? line : line.substr(1);
      if (kind == '\\') {
        TS_TRY(mark_no_newline(hunk));
        continue;
      }
      if (kind != ' ' && kind != '-' && kind != '+') {
        return at_line(line_number(), "a line of a hunk must begin with a space, - or +",
                       "count the hunk's lines again");
      }
      if (kind != '+' && old_left-- == 0)
        return at_line(line_number(), "the hunk holds more old lines than its header says",
                       "count its lines again");
      if (kind != '-' && new_left-- == 0)
        return at_line(line_number(), "the hunk holds more new lines than its header says",
                       "count its lines again");
      hunk.lines.push_back({kind, std::string(text), false});
      ++m_at;
    }
    if (m_at < m_lines.size() && m_lines[m_at].starts_with("\\")) TS_TRY(mark_no_newline(hunk));
    const bool changes = std::any_of(hunk.lines.begin(), hunk.lines.end(),
                                     [](const DiffLine& line) { return line.kind != ' '; });
    if (!changes) return at_line(hunk.line, "the hunk changes nothing", "remove it");
    return hunk;
  }

  Status mark_no_newline(Hunk& hunk) {
    if (hunk.lines.empty())
      return at_line(line_number(), "\"\\ No newline at end of file\" belongs to the line before it");
    hunk.lines.back().no_newline = true;
    ++m_at;
    return {};
  }

  std::vector<std::string_view> m_lines;
  std::size_t m_at = 0;
};

struct TextLine {
  std::string text;
  std::string end;      ///< "\n", "\r\n", or "" at the end of a file that ends without one
  bool marked = false;  ///< added with "\ No newline at end of file"
};

std::vector<TextLine> lines_of(const std::string& text) {
  std::vector<TextLine> lines;
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = text.find('\n', start);
    if (end == std::string::npos) {
      lines.push_back({text.substr(start), "", false});
      break;
    }
    const bool carriage = end > start && text[end - 1] == '\r';
    lines.push_back({text.substr(start, end - start - (carriage ? 1 : 0)), carriage ? "\r\n" : "\n", false});
    start = end + 1;
  }
  return lines;
}

bool matches(const std::vector<TextLine>& lines, std::int64_t at, const Hunk& hunk) {
  if (at < 0) return false;
  auto index = static_cast<std::size_t>(at);
  for (const DiffLine& line : hunk.lines) {
    if (line.kind == '+') continue;
    if (index >= lines.size() || lines[index].text != line.text) return false;
    if (line.no_newline && !lines[index].end.empty()) return false;
    ++index;
  }
  return true;
}

/// Where the hunk begins, counted from 0; not before `least`.
Result<std::int64_t> locate_hunk(const std::vector<TextLine>& lines, std::int64_t expected,
                                 std::int64_t least, const Hunk& hunk) {
  if (hunk.old_count == 0) {
    // Nothing to recognise the place by: only the exact line counts.
    if (expected < least || expected > static_cast<std::int64_t>(lines.size()))
      return at_line(hunk.line, "the hunk adds lines beyond the file's end");
    return expected;
  }
  for (std::int64_t offset = 0; offset <= k_most_offset; ++offset) {
    const bool above = expected - offset >= least && matches(lines, expected - offset, hunk);
    const bool below = expected + offset >= least && matches(lines, expected + offset, hunk);
    if (offset > 0 && above && below) {
      return at_line(hunk.line,
                     fmt::format("the hunk fits {} lines above and below its place equally well", offset),
                     "give more lines of context");
    }
    if (above) return expected - offset;
    if (below) return expected + offset;
  }
  return at_line(hunk.line,
                 fmt::format("the hunk does not apply at line {} or within {} lines of it", hunk.old_start,
                             k_most_offset),
                 "quote the file's present text exactly, with its white space");
}

}  // namespace

Result<std::vector<FileDiff>> parse_diff(const std::string& diff) {
  if (diff.find('\0') != std::string::npos)
    return at_line(1, "holds NUL characters: a binary diff is not allowed");
  return Parser(diff).run();
}

Result<std::string> apply_hunks(const std::string& text, const FileDiff& file) {
  const std::vector<TextLine> lines = lines_of(text);
  const std::string standard_end = lines.empty() || lines.front().end.empty() ? "\n" : lines.front().end;
  std::vector<TextLine> out;
  std::int64_t taken = 0;   // lines of the original already copied
  std::int64_t offset = 0;  // how far the hunks before this one were from their places
  for (const Hunk& hunk : file.hunks) {
    const std::int64_t said = hunk.old_count == 0 ? hunk.old_start : hunk.old_start - 1;
    TS_ASSIGN(const std::int64_t at, locate_hunk(lines, said + offset, taken, hunk));
    offset = at - said;
    out.insert(out.end(), lines.begin() + taken, lines.begin() + at);
    taken = at;
    for (const DiffLine& line : hunk.lines) {
      if (line.kind == '+') {
        const bool bare = out.empty() || out.back().end.empty();
        out.push_back({line.text,
                       line.no_newline ? ""
                       : bare          ? standard_end
                                       : out.back().end,
                       line.no_newline});
        continue;
      }
      if (line.kind == ' ') out.push_back(lines[static_cast<std::size_t>(taken)]);
      ++taken;
    }
  }
  out.insert(out.end(), lines.begin() + taken, lines.end());
  std::string patched;
  for (std::size_t i = 0; i < out.size(); ++i) {
    TextLine& line = out[i];
    if (i + 1 < out.size() && line.end.empty()) {
      if (line.marked) {
        return at_line(file.line, fmt::format("\"\\ No newline at end of file\" stands inside {}", file.path),
                       "only the last line may lack its end");
      }
      line.end = standard_end;  // lines were added behind a last line without an end: it needs one now
    }
    patched += line.text + line.end;
  }
  return patched;
}

}  // namespace tunesmith
