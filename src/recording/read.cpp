#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "recording/formats.h"
#include "recording/gzip.h"

namespace tunesmith::recording {

namespace {

constexpr std::size_t k_largest_file = std::size_t{1} << 30;

tl::unexpected<Error> unreadable(const Source& source, std::string message, std::string mend) {
  return fail(ErrorCode::unreadable, std::move(message), std::move(mend), Place{source.path, 0, 0, {}});
}

/// A file that is no recording, named for what it is.
tl::unexpected<Error> refuse(const Source& source, const Outline& outline) {
  const std::string_view text = source.text;
  const std::string tail = source.fault.empty() ? "" : " (" + source.fault + ")";
  if (text.empty() && !source.fault.empty())
    return unreadable(source, "nothing of it can be unpacked: " + source.fault, "restore the file");
  if (text.empty()) return unreadable(source, "the file is empty", "name a recording");
  if (text.find_first_not_of('\0') == std::string_view::npos)
    return unreadable(source, fmt::format("the file holds {} NUL bytes and nothing else", text.size()),
                      "a crash emptied it: record it again, or restore it");
  if (is_t1(outline)) {
    return unreadable(source, "this is a description of what may vary (T1), and holds no times",
                      "name it as \"space\" beside \"recording\" in a case of backend \"replay\"");
  }
  if (outline.broken && outline.members.empty())
    return unreadable(source,
                      fmt::format("the file is torn before its first record, inside \"{}\"{}",
                                  printable(cut(outline.broken->key, 80)), tail),
                      "record it again, or restore it");
  std::vector<std::string> names;
  for (const Format& format : format_table()) names.emplace_back(format.summary);
  return unreadable(source, "this is no recording that tunesmith knows" + tail,
                    fmt::format("known are {}", join(names, ", ")));
}

}  // namespace

Result<Source> open_source(const std::string& path) {
  Source source;
  source.path = absolute_path(path);
  if (is_folder(source.path))
    return fail(ErrorCode::unreadable, "this is a folder", "name one recording",
                Place{source.path, 0, 0, {}});
  TS_ASSIGN(std::string bytes, read_file(source.path, k_largest_file));
  if (!is_gzip(bytes)) {
    source.text = std::move(bytes);
    return source;
  }
  auto unpacked = gunzip(bytes);
  if (!unpacked) {
    unpacked.error().place.file = source.path;
    return tl::unexpected<Error>(std::move(unpacked.error()));
  }
  source.text = std::move(unpacked->text);
  source.fault = std::move(unpacked->fault);
  return source;
}

const Piece* Outline::find(std::string_view key) const {
  const auto at = std::find_if(members.begin(), members.end(), [&](const Piece& p) { return p.key == key; });
  return at == members.end() ? nullptr : &*at;
}

std::optional<std::size_t> Outline::value_at(std::string_view key) const {
  if (const Piece* piece = find(key)) return piece->offset;
  if (broken && broken->key == key) return broken->offset;
  return std::nullopt;
}

Outline outline_of(std::string_view text) {
  Outline outline;
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || text[begin] != '{') return outline;
  const Walk went = walk(text, begin, [&](const Piece& piece) {
    Piece whole = piece;
    whole.offset = static_cast<std::size_t>(piece.text.data() - text.data());
    outline.members.push_back(std::move(whole));
    return true;
  });
  if (!went.closed && went.broken_key) outline.broken = Piece{*went.broken_key, went.broken_at, {}};
  return outline;
}

const std::vector<Format>& format_table() {
  static const std::vector<Format> table = {own_format(), compact_format(), kernel_tuner_format(),
                                            t4_format(), ktt_format()};
  return table;
}

Result<Recording> read_recording(const std::string& path) {
  TS_ASSIGN(const Source source, open_source(path));
  const Outline outline = outline_of(source.text);
  for (const Format& format : format_table()) {
    if (!format.fits(source, outline)) continue;
    TS_ASSIGN(Draft draft, format.read(source, outline));
    draft.format = format.name;
    if (!source.fault.empty()) draft.notes.insert(draft.notes.begin(), source.fault);
    return finish(std::move(draft), source.path);
  }
  return refuse(source, outline);
}

}  // namespace tunesmith::recording
