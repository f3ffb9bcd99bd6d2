#include <fmt/format.h>

#include <cctype>

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "case/case.h"
#include "case/lookup.h"
#include "case/reader.h"

namespace tunesmith {

namespace {

using reader::Context;

/// The name goes into folder and file names.
Result<std::string> read_name(const Node& root) {
  TS_ASSIGN(const Node node, root.get("name"));
  TS_ASSIGN(std::string name, node.as_string());
  const bool plain =
      !name.empty() && name.size() <= 64 && std::isalnum(static_cast<unsigned char>(name.front())) != 0 &&
      std::all_of(name.begin(), name.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
      });
  if (!plain) {
    return node.error(fmt::format("the name \"{}\" cannot name a folder", printable(name)),
                      "use at most 64 letters, digits and - _ ., beginning with a letter or digit");
  }
  return name;
}

Status read_backend(const Node& root, const Context& context, Case& c) {
  if (const auto backend = root.find("backend")) {
    TS_ASSIGN(c.backend, reader::word_of(*backend, {"cpu", "command", "replay"}));
  }
  const auto source = root.find("source");
  const auto command = root.find("command");
  if (c.backend != "command") {
    if (command)
      return command->error(fmt::format("backend {} has no command", c.backend),
                            "set \"backend\": \"command\", or remove it");
    TS_ASSIGN(const Node node, root.get("source"));
    TS_ASSIGN(c.source, reader::read_source(node, context, reader::SourceUse::candidate));
    return {};
  }
  if (source)
    return source->error("backend command builds by its own line",
                         "remove \"source\", or set \"backend\": \"cpu\"");
  TS_TRY(root.get("command"));
  return {};
}

/// f32 for a case that does not say: the dtype of its first result.
Status read_case_dtype(const Node& root, Case& c) {
  if (const auto dtype = root.find("dtype")) {
    TS_ASSIGN(c.dtype, dtype->as_string());
    if (!is_plain_word(c.dtype)) return dtype->error("must be a short word like \"f32\"");
    return {};
  }
  c.dtype = "f32";
  for (const Argument& argument : c.arguments) {
    const auto* buffer = std::get_if<Buffer>(&argument);
    if (buffer != nullptr && (buffer->role == Role::out || buffer->role == Role::inout)) {
      c.dtype = name_of(buffer->dtype);
      break;
    }
  }
  return {};
}

Result<Case> read_case(const Node& root, const std::string& path) {
  Case c;
  c.file = path;
  c.text_sha256 = sha256_hex(root.text());
  const Context context{parent_folder(path)};
  if (const auto backend = root.find("backend");
      backend && backend->is_string() && backend->value() == "replay") {
    TS_TRY(root.only_keys({"$schema", "name", "description", "backend", "dtype", "recording", "space",
                           "baseline", "objective", "gate"}));
    TS_ASSIGN(c.name, read_name(root));
    TS_ASSIGN(c.description, root.string_or("description", ""));
    TS_TRY(reader::read_replay(root, context, c));
    c.objective = root.find("objective");
    c.gate = root.find("gate");
    return c;
  }
  TS_TRY(
      root.only_keys({"$schema",   "name",      "description", "backend",     "dtype",           "source",
                      "command",   "flags",     "dimensions",  "shapes",      "held_out_shapes", "arguments",
                      "reference", "tolerance", "parameters",  "constraints", "baseline",        "work",
                      "limits",    "clock",     "objective",   "gate"}));
  TS_ASSIGN(c.name, read_name(root));
  TS_ASSIGN(c.description, root.string_or("description", ""));
  TS_TRY(read_backend(root, context, c));
  TS_TRY(reader::read_dimensions(root, c));
  TS_TRY(reader::read_space(root, c));
  if (c.backend == "command") {
    TS_ASSIGN(const Node command, root.get("command"));
    TS_ASSIGN(c.command, reader::read_command(command, context, c));
    if (const auto flags = root.find("flags"))
      return flags->error("backend command takes its flags in its own lines", "remove \"flags\"");
  }
  TS_TRY(reader::read_flags(root, context, c));
  TS_TRY(reader::read_shapes(root, c));
  const bool self_reported = c.command && c.command->library.empty();
  if (!self_reported || root.find("arguments")) TS_TRY(reader::read_arguments(root, context, c));
  TS_TRY(reader::read_work(root, context, c));
  TS_TRY(reader::read_limits(root, c));
  TS_TRY(reader::check_amounts(root, c));
  TS_TRY(reader::read_tolerance(root, c));
  TS_TRY(reader::read_reference(root, context, c));
  TS_TRY(reader::read_baseline(root, context, c));
  TS_TRY(read_case_dtype(root, c));
  if (const auto clock = root.find("clock")) {
    TS_ASSIGN(const std::string mode, reader::word_of(*clock, {"warm", "cold"}));
    c.clock = mode == "cold" ? ClockMode::cold : ClockMode::warm;
  }
  c.objective = root.find("objective");
  c.gate = root.find("gate");
  return c;
}

}  // namespace

Result<Case> load_case(const std::string& path_or_name) {
  TS_ASSIGN(const std::string path, find_case_file(path_or_name));
  if (!path.ends_with(".json") || recording::is_recording(path) || recording::is_t1(path))
    return reader::case_of_recording(path);
  TS_ASSIGN(const Node root, Node::read(path));
  if (!root.is_object()) return root.error("a case file holds one JSON object");
  return read_case(root, path);
}

}  // namespace tunesmith
