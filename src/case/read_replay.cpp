#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "case/reader.h"

namespace tunesmith::reader {

namespace {

/// The name goes into folder and file names; a recording's own may hold anything.
std::string plain_name(const std::string& name) {
  constexpr std::size_t k_longest = 64;
  std::string out;
  for (const char c : name.substr(0, k_longest)) {
    const bool good = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
    out += good ? c : '_';
  }
  if (out.empty() || std::isalnum(static_cast<unsigned char>(out.front())) == 0) out.insert(0, "r");
  return out.substr(0, k_longest);
}

/// What every replayed case has in common: one nameless shape, no kernel, no arguments.
void fill(Case& c, recording::Recording recording) {
  c.backend = "replay";
  c.dtype = "recorded";
  c.shapes = {Shape{"recorded", {}, 1}};
  c.space = recording.space;
  if (c.description.empty()) {
    c.description =
        fmt::format("{} on {}, replayed", recording.kernel.empty() ? recording.name : recording.kernel,
                    recording.device.empty() ? "an unnamed device" : recording.device);
  }
  c.recording = std::make_shared<const recording::Recording>(std::move(recording));
}

/// The recording's own baseline, else the first configuration that works: a choice that knows no times.
void choose_baseline(Case& c) {
  const recording::Recording& r = *c.recording;
  if (r.baseline) {
    c.baseline.config = r.baseline;
    if (c.baseline.label.empty()) c.baseline.label = "the recording's baseline";
    return;
  }
  const auto first = std::find_if(r.entries.begin(), r.entries.end(),
                                  [](const recording::Entry& entry) { return entry.ok(); });
  if (first != r.entries.end()) {
    c.baseline.config = first->config;
    if (c.baseline.label.empty()) c.baseline.label = "first configuration that works";
  } else {
    c.baseline.label = "1 ms by definition: nothing in the recording works";
  }
}

Result<std::string> file_at(const Node& node, const Context& context) {
  TS_ASSIGN(const std::string text, node.as_string());
  const std::string path = resolve(context, text);
  if (!exists(path)) return node.error(fmt::format("there is no file {}", printable(path)), "check the path");
  return path;
}

}  // namespace

Status read_replay(const Node& root, const Context& context, Case& c) {
  TS_ASSIGN(const Node named, root.get("recording"));
  TS_ASSIGN(const std::string path, file_at(named, context));
  if (const auto described = root.find("space")) {
    TS_ASSIGN(const std::string t1, file_at(*described, context));
    TS_ASSIGN(recording::Recording recording, recording::read_recording(path, t1));
    fill(c, std::move(recording));
  } else {
    TS_ASSIGN(recording::Recording recording, recording::read_recording(path));
    fill(c, std::move(recording));
  }
  if (const auto dtype = root.find("dtype")) {
    TS_ASSIGN(c.dtype, dtype->as_string());
    if (!is_plain_word(c.dtype)) return dtype->error("must be a short word like \"f32\"");
  }
  if (!root.find("baseline")) {
    choose_baseline(c);
    return {};
  }
  TS_TRY(read_baseline(root, context, c));
  if (c.baseline.kind != Baseline::Kind::config)
    return root.get("baseline")->error("a baseline of backend replay is a configuration", "use \"config\"");
  const recording::Entry* entry = c.recording->find(*c.baseline.config);
  if (entry == nullptr || !entry->ok()) {
    return root.get("baseline")
        ->error(fmt::format("the baseline is recorded as {}",
                            entry == nullptr ? "nothing" : name_of(entry->status)),
                "choose a configuration that works");
  }
  return {};
}

Result<Case> case_of_recording(const std::string& path) {
  Case c;
  c.file = path;
  TS_ASSIGN(const std::string bytes, read_file(path));
  c.text_sha256 = sha256_hex(bytes);
  if (recording::is_t1(path)) {
    TS_ASSIGN(const recording::Problem problem, recording::read_t1(path));
    if (problem.recording.empty()) {
      return fail(ErrorCode::invalid, "this T1 file says what may vary and names no recorded results",
                  "name them in KernelSpecification.SimulationInput, or write a case with \"backend\": "
                  "\"replay\", \"recording\" and \"space\"",
                  Place{path, 0, 0, "/KernelSpecification"});
    }
    TS_ASSIGN(recording::Recording recording, recording::read_recording(problem.recording, path));
    c.name = plain_name(problem.name);
    fill(c, std::move(recording));
  } else {
    TS_ASSIGN(recording::Recording recording, recording::read_recording(path));
    c.name = plain_name(recording.name);
    fill(c, std::move(recording));
  }
  choose_baseline(c);
  return c;
}

}  // namespace tunesmith::reader
