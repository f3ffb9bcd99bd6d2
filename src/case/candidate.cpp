#include "case/candidate.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <deque>
#include <set>

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "case/diff.h"
#include "case/flags.h"

namespace tunesmith {

namespace {

/// Enough for any kernel written by hand; more is an attempt to drown the compiler.
constexpr std::size_t k_most_source_bytes = 1U << 20;

tl::unexpected<Error> forbidden(std::string message, std::string mend = {}) {
  return fail(ErrorCode::invalid, std::move(message), std::move(mend), Place{"diff", 0, 0, {}});
}

std::string list_of_names(const Case& c) {
  std::vector<std::string> names;
  for (const std::string& path : c.source.editable) names.push_back(base_name(path));
  return names.empty() ? "this case lists no editable file" : "editable are " + join(names, ", ");
}

Status check_path(const std::string& path) {
  if (path.empty()) return forbidden("a file header names no file");
  if (path.front() == '/')
    return forbidden(fmt::format("{} is an absolute path", printable(path)),
                     "name the file relative to the case");
  for (const std::string_view part : split(path, '/')) {
    if (part == "..")
      return forbidden(fmt::format("{} leaves its folder by \"..\"", printable(path)),
                       "name the file relative to the case");
    if (part.empty()) return forbidden(fmt::format("{} is no plain path", printable(path)));
  }
  return {};
}

/// The one editable file whose path ends in `path`, component by component.
Result<std::string> editable_file(const Case& c, const std::string& path) {
  TS_TRY(check_path(path));
  std::string plain = path;
  while (plain.starts_with("./")) plain = plain.substr(2);
  std::string found;
  for (const std::string& editable : c.source.editable) {
    if (!editable.ends_with("/" + plain)) continue;
    if (!found.empty())
      return forbidden(fmt::format("{} could be {} or {}", path, found, editable), "write more of the path");
    found = editable;
  }
  if (found.empty()) return forbidden(fmt::format("{} is not editable", printable(path)), list_of_names(c));
  struct stat info {};
  if (lstat(found.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
    return forbidden(fmt::format("{} is a symlink or no regular file", path));
  return found;
}

std::vector<std::string> all_files(const Case& c) {
  std::vector<std::string> files = c.source.files;
  for (const std::string& path : c.source.editable) {
    if (std::find(files.begin(), files.end(), path) == files.end()) files.push_back(path);
  }
  return files;
}

/// Names in #include "…" lines of normalised text.
std::vector<std::string> quoted_includes(std::string_view normalised) {
  std::vector<std::string> names;
  for (const std::string_view line : split_lines(normalised)) {
    if (!line.starts_with("#include")) continue;
    const std::size_t open = line.find('"');
    const std::size_t close = open == std::string_view::npos ? open : line.find('"', open + 1);
    if (close != std::string_view::npos && close > open + 1)
      names.emplace_back(line.substr(open + 1, close - open - 1));
  }
  return names;
}

/// All sources and the project's own headers that they include, normalised, in a fixed order.
void hash_sources(Hasher& hash, const Case& c, const std::map<std::string, std::string>& texts,
                  const std::vector<std::string>& flags) {
  constexpr std::size_t k_most_headers =
      1000;  // a cycle ends by `seen`; this bounds a folder full of headers
  const std::vector<std::string> files = all_files(c);
  std::deque<std::string> open(files.begin(), files.end());
  std::set<std::string> seen(files.begin(), files.end());
  while (!open.empty()) {
    const std::string path = open.front();
    open.pop_front();
    const auto patched = texts.find(path);
    const Result<std::string> text =
        patched != texts.end() ? Result<std::string>(patched->second) : read_file(path, k_most_source_bytes);
    if (!text) continue;  // a header that cannot be read fails the build with the compiler's own words
    const std::string normalised = normalise_source(*text);
    hash.field(normalised);
    std::vector<std::string> folders = {parent_folder(path)};
    for (const std::string& flag : flags) {
      if (flag.starts_with("-I")) folders.push_back(flag.substr(2));
    }
    for (const std::string& name : quoted_includes(normalised)) {
      for (const std::string& folder : folders) {
        const std::string header = absolute_path(name.front() == '/' ? name : folder + "/" + name);
        struct stat info {};
        if (stat(header.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;  // a FIFO would block here
        if (seen.size() < k_most_headers && seen.insert(header).second) open.push_back(header);
        break;
      }
    }
  }
}

}  // namespace

Result<std::map<std::string, std::string>> patched_sources(const Case& c, const std::string& diff) {
  std::map<std::string, std::string> texts;
  for (const std::string& path : all_files(c)) {
    TS_ASSIGN(texts[path], read_file(path));
  }
  if (diff.empty()) return texts;
  if (diff.size() > k_most_source_bytes) return forbidden("the diff is larger than 1 MiB");
  TS_ASSIGN(const std::vector<FileDiff> files, parse_diff(diff));
  std::set<std::string> patched;
  for (const FileDiff& file : files) {
    TS_ASSIGN(const std::string path, editable_file(c, file.path));
    if (!patched.insert(path).second) return forbidden(fmt::format("{} is patched twice", file.path));
    TS_ASSIGN(std::string text, apply_hunks(texts[path], file));
    if (text.size() > k_most_source_bytes)
      return forbidden(fmt::format("{} would grow beyond 1 MiB", file.path));
    if (text.find('\0') != std::string::npos)
      return forbidden(fmt::format("{} would hold NUL characters", file.path));
    texts[path] = std::move(text);
  }
  return texts;
}

Result<std::string> candidate_identity(const Case& c, const Candidate& candidate,
                                       const std::string& toolchain) {
  TS_ASSIGN(const auto texts, patched_sources(c, candidate.diff));
  TS_ASSIGN(const auto flags, fill_placeholders(c.flags, c.space, candidate.config));
  Hasher hash;
  hash.field("tunesmith candidate 1")
      .field(c.backend)
      .field(c.source.language)
      .field(c.source.entry)
      .field(toolchain);
  for (const std::string& flag : flags) hash.field(flag);
  hash.field("");
  for (std::size_t i = 0; i < c.space.parameters().size(); ++i) {
    hash.field(c.space.parameters()[i].name).field(space::macro_text(c.space.value(candidate.config, i)));
  }
  hash.field("");
  for (const Argument& argument : c.arguments) {
    const bool buffer = std::holds_alternative<Buffer>(argument);
    hash.field(buffer ? "buffer" : "scalar")
        .field(name_of(buffer ? std::get<Buffer>(argument).dtype : std::get<Scalar>(argument).dtype));
  }
  if (c.command) {
    for (const auto* argv : {&c.command->build, &c.command->run}) {
      hash.field("");
      for (const std::string& word : *argv) hash.field(word);
    }
    hash.field(c.command->library);
  }
  hash_sources(hash, c, texts, flags);
  return hash.hex();
}

}  // namespace tunesmith
