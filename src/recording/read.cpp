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

namespace {

Result<Draft> read_draft(const Source& source) {
  const Outline outline = outline_of(source.text);
  for (const Format& format : format_table()) {
    if (!format.fits(source, outline)) continue;
    TS_ASSIGN(Draft draft, format.read(source, outline));
    draft.format = format.name;
    if (draft.files.empty()) draft.files.push_back(source.path);
    if (!source.fault.empty()) draft.notes.insert(draft.notes.begin(), source.fault);
    return draft;
  }
  return refuse(source, outline);
}

/// The records' values in the order of the described parameters.
Status describe(Draft& draft, const Problem& problem, const std::string& t1_path) {
  std::vector<std::size_t> from;
  for (const space::Parameter& parameter : problem.space.parameters()) {
    const auto at = std::find_if(draft.parameters.begin(), draft.parameters.end(),
                                 [&](const space::Parameter& p) { return p.name == parameter.name; });
    if (at == draft.parameters.end()) {
      return fail(ErrorCode::invalid, fmt::format("the recording has no parameter {}", parameter.name),
                  "name the recording that belongs to this description", Place{t1_path, 0, 0, {}});
    }
    from.push_back(static_cast<std::size_t>(at - draft.parameters.begin()));
  }
  if (from.size() != draft.parameters.size()) {
    return fail(ErrorCode::invalid,
                fmt::format("the recording has {} parameters and the description {}", draft.parameters.size(),
                            from.size()),
                "name the recording that belongs to this description", Place{t1_path, 0, 0, {}});
  }
  for (Record& record : draft.records) {
    std::vector<space::Value> values;
    for (const std::size_t at : from) values.push_back(std::move(record.values[at]));
    record.values = std::move(values);
  }
  draft.parameters = problem.space.parameters();
  draft.constraints = problem.space.constraints();
  draft.declared = true;
  draft.baseline.reset();
  if (draft.kernel.empty()) draft.kernel = problem.kernel;
  if (draft.device.empty()) draft.device = problem.device;
  draft.files.push_back(t1_path);
  return {};
}

}  // namespace

Result<Recording> read_recording(const std::string& path) {
  TS_ASSIGN(const Source source, open_source(path));
  TS_ASSIGN(Draft draft, read_draft(source));
  return finish(std::move(draft), source.path);
}

Result<Recording> read_recording(const std::string& path, const std::string& t1_path) {
  TS_ASSIGN(const Problem problem, read_t1(t1_path));
  TS_ASSIGN(const Source source, open_source(path));
  TS_ASSIGN(Draft draft, read_draft(source));
  TS_TRY(describe(draft, problem, absolute_path(t1_path)));
  return finish(std::move(draft), source.path);
}

bool is_recording(const std::string& path) {
  const auto source = open_source(path);
  if (!source) return false;
  const Outline outline = outline_of(source->text);
  return std::any_of(format_table().begin(), format_table().end(),
                     [&](const Format& format) { return format.fits(*source, outline); });
}

bool is_t1(const std::string& path) {
  const auto source = open_source(path);
  return source && is_t1(outline_of(source->text));
}

}  // namespace tunesmith::recording
