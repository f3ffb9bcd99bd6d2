// T1: {"ConfigurationSpace": {"TuningParameters": [{"Name", "Type", "Values": "[16, 32]"}], "Conditions":
// [{"Expression": "…"}]}, "KernelSpecification": {"KernelName": …}}. Values are a list written in a string.
#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "recording/formats.h"

namespace tunesmith::recording {

namespace {

/// A Python list as JSON: single quotes, True and False, tuples.
std::string as_json(std::string_view text) {
  std::string out;
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != '\0') {
      if (c == quote) quote = '\0';
      out += c == '\'' && quote == '\0' ? '"' : c;
      continue;
    }
    if (c == '\'' || c == '"') {
      quote = c;
      out += '"';
    } else if (text.substr(i).starts_with("True")) {
      out += "true";
      i += 3;
    } else if (text.substr(i).starts_with("False")) {
      out += "false";
      i += 4;
    } else {
      out += c == '(' ? '[' : c == ')' ? ']' : c;
    }
  }
  return out;
}

/// Written with or without its ending, and seen from the folder of the description.
std::string beside(const std::string& t1_path, const std::string& input) {
  const std::string path = input.starts_with('/') ? input : parent_folder(t1_path) + "/" + input;
  for (const char* ending : {"", ".json", ".json.gz"})
    if (exists(path + ending) && !is_folder(path + ending)) return path + ending;
  return path;
}

Result<std::vector<space::Value>> read_values(const Node& node) {
  std::vector<space::Value> values;
  json::value list = node.value();
  if (node.is_string()) {
    const auto parsed = parse_piece(as_json(std::string_view(node.value().get_string())));
    if (!parsed || !parsed->is_array())
      return node.error("the values are no plain list", "write them out, as in \"[16, 32, 64]\"");
    list = *parsed;
  }
  if (!list.is_array()) return node.error("the values are no list", "write them as in \"[16, 32, 64]\"");
  for (const json::value& item : list.get_array()) {
    auto value = value_of(item);
    if (!value) return node.error("a value is no number, word or truth value");
    values.push_back(std::move(*value));
  }
  return values;
}

}  // namespace

bool is_t1(const Outline& outline) { return outline.find("ConfigurationSpace") != nullptr; }

Result<Problem> read_t1(const std::string& path) {
  TS_ASSIGN(Source source, open_source(path));
  if (!source.fault.empty())
    return fail(ErrorCode::unreadable, source.fault, "restore the file", Place{source.path, 0, 0, {}});
  TS_ASSIGN(const Node root, Node::parse(std::move(source.text), source.path));
  TS_ASSIGN(const Node declared, root.get("ConfigurationSpace"));
  TS_ASSIGN(const Node list, declared.get("TuningParameters"));
  TS_ASSIGN(const auto items, list.items());
  std::vector<space::Parameter> parameters;
  for (const Node& item : items) {
    space::Parameter parameter;
    TS_ASSIGN(const Node name, item.get("Name"));
    TS_ASSIGN(parameter.name, name.as_string());
    TS_ASSIGN(const Node values, item.get("Values"));
    TS_ASSIGN(parameter.values, read_values(values));
    parameters.push_back(std::move(parameter));
  }
  std::vector<space::Space::Constraint> constraints;
  if (const auto conditions = declared.find("Conditions")) {
    TS_ASSIGN(const auto all, conditions->items());
    for (const Node& condition : all) {
      TS_ASSIGN(const Node expression, condition.get("Expression"));
      TS_ASSIGN(std::string text, expression.as_string());
      constraints.push_back({std::move(text), expression.place()});
    }
  }
  Problem problem;
  problem.name = base_name(source.path);
  for (const char* ending : {".gz", ".json"})
    if (problem.name.ends_with(ending))
      problem.name.resize(problem.name.size() - std::string_view(ending).size());
  if (const auto kernel = root.find("KernelSpecification"); kernel && kernel->is_object()) {
    TS_ASSIGN(problem.kernel, kernel->string_or("KernelName", ""));
    TS_ASSIGN(const std::string input, kernel->string_or("SimulationInput", ""));
    if (!input.empty()) problem.recording = beside(source.path, input);
    if (const auto device = kernel->find("Device"); device && device->is_object()) {
      TS_ASSIGN(problem.device, device->string_or("Name", ""));
    }
  }
  auto space = space::Space::create(std::move(parameters), std::move(constraints));
  if (!space) {
    if (space.error().place.file.empty()) space.error().place.file = source.path;
    return tl::unexpected<Error>(std::move(space.error()));
  }
  problem.space = std::move(*space);
  return problem;
}

}  // namespace tunesmith::recording
