#include "recording/own.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text.h"
#include "recording/formats.h"

namespace tunesmith::recording {

namespace {

constexpr const char* k_mark = "tunesmith_recording";
constexpr std::int64_t k_version = 1;

bool fits(const Source&, const Outline& outline) { return outline.find(k_mark) != nullptr; }

/// Rounded to what a clock can tell: files stay small and readable.
json::value rounded(double number, int digits) {
  if (!std::isfinite(number)) return nullptr;
  double value = 0;
  const std::string text = fmt::format("{:.{}g}", number, digits);
  (void)std::sscanf(text.c_str(), "%lf", &value);
  return value;
}

std::optional<std::string> read_entry(const json::object& object, const Draft& draft, Record& record) {
  const json::value* config = object.if_contains("config");
  if (config == nullptr || !config->is_object()) return "it has no configuration";
  for (const space::Parameter& parameter : draft.parameters) {
    const json::value* value = config->get_object().if_contains(parameter.name);
    auto known = value != nullptr ? value_of(*value) : std::nullopt;
    if (!known) return fmt::format("no value for {}", printable(parameter.name));
    record.values.push_back(std::move(*known));
  }
  Entry& entry = record.entry;
  const auto status = status_from_name(text_in(object, "status"));
  if (!status) return "it has no status that is known";
  entry.reason = printable(text_in(object, "reason"));
  entry.compile_ms = number_in(object, "compile_ms").value_or(0);
  entry.verify_ms = number_in(object, "verify_ms").value_or(0);
  entry.bench_ms = number_in(object, "bench_ms").value_or(0);
  entry.status = *status;
  if (!entry.ok()) return std::nullopt;
  set_time(entry, number_in(object, "time_ms"));
  if (!entry.ok()) return std::nullopt;
  entry.samples_ms = numbers_in(object, "samples_ms");
  for (const double sample : entry.samples_ms)
    if (!std::isfinite(sample) || sample <= 0) return "a sample is no time";
  if (draft.objective != "time") {
    entry.value = number_in(object, "value").value_or(k_nan);
    if (!std::isfinite(entry.value)) return fmt::format("it has no {}", printable(draft.objective));
  }
  return std::nullopt;
}

Result<Draft> read(const Source& source, const Outline&) {
  const auto lines = split_lines(source.text);
  TS_ASSIGN(const Header header, header_from(std::string(lines.front()), source.path));
  Draft draft;
  draft.kernel = header.kernel;
  draft.device = header.device;
  draft.objective = header.objective;
  draft.maximise = header.maximise;
  draft.parameters = header.parameters;
  draft.declared = true;
  for (const std::string& text : header.constraints)
    draft.constraints.push_back({text, Place{source.path, 1, 0, "/constraints"}});
  if (header.baseline) {
    std::vector<space::Value> values;
    for (const space::Parameter& parameter : header.parameters) {
      const json::value* value = header.baseline->if_contains(parameter.name);
      auto known = value != nullptr ? value_of(*value) : std::nullopt;
      if (known) values.push_back(std::move(*known));
    }
    if (values.size() == header.parameters.size()) draft.baseline = std::move(values);
  }
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (trim(lines[i]).empty()) continue;
    Record record;
    record.position = fmt::format("line {}", i + 1);
    const auto value = parse_piece(lines[i]);
    std::optional<std::string> fault;
    if (!value || !value->is_object())
      fault = lines[i].find('\0') != std::string_view::npos ? "NUL bytes" : "the record is not whole";
    else
      fault = read_entry(value->get_object(), draft, record);
    if (fault)
      draft.notes.push_back(fmt::format("torn: line {}: {}", i + 1, *fault));
    else
      draft.records.push_back(std::move(record));
  }
  return draft;
}

}  // namespace

std::string header_line(const Header& header) {
  json::object parameters;
  for (const space::Parameter& parameter : header.parameters) {
    json::array values;
    for (const space::Value& value : parameter.values) values.push_back(space::value_to_json(value));
    parameters[parameter.name] = std::move(values);
  }
  json::array constraints;
  for (const std::string& text : header.constraints) constraints.emplace_back(text);
  json::object out{{k_mark, k_version},
                   {"name", header.name},
                   {"kernel", header.kernel},
                   {"device", header.device},
                   {"objective", header.objective},
                   {"maximise", header.maximise},
                   {"parameters", std::move(parameters)},
                   {"constraints", std::move(constraints)}};
  if (header.baseline) {
    out["baseline"] = *header.baseline;
    out["baseline_ms"] = rounded(header.baseline_ms, 6);
  }
  for (const auto& member : header.extra) out[member.key()] = member.value();
  return print_json_compact(out) + "\n";
}

Result<Header> header_from(const std::string& line, const std::string& file) {
  TS_ASSIGN(const Node root, Node::parse(line, file));
  TS_ASSIGN(const Node mark, root.get(k_mark));
  TS_ASSIGN(const std::int64_t version, mark.as_int());
  if (version != k_version) {
    return mark.error(fmt::format("version {} of the format is not known", version),
                      "use the tunesmith that recorded it, or a newer one");
  }
  Header header;
  TS_ASSIGN(header.name, root.string_or("name", ""));
  TS_ASSIGN(header.kernel, root.string_or("kernel", ""));
  TS_ASSIGN(header.device, root.string_or("device", ""));
  TS_ASSIGN(header.objective, root.string_or("objective", "time"));
  TS_ASSIGN(header.maximise, root.bool_or("maximise", false));
  TS_ASSIGN(header.baseline_ms, root.double_or("baseline_ms", 0));
  TS_ASSIGN(const Node parameters, root.get("parameters"));
  TS_ASSIGN(header.parameters, read_parameters(parameters));
  if (const auto constraints = root.find("constraints")) {
    TS_ASSIGN(header.constraints, constraints->as_strings());
  }
  if (const auto baseline = root.find("baseline"); baseline && baseline->is_object())
    header.baseline = baseline->value().get_object();
  for (const auto& member : root.value().get_object()) header.extra[member.key()] = member.value();
  for (const char* known : {k_mark, "name", "kernel", "device", "objective", "maximise", "parameters",
                            "constraints", "baseline", "baseline_ms"})
    header.extra.erase(known);
  return header;
}

std::string entry_line(const json::object& config, const Entry& entry) {
  json::object out{{"config", config}, {"status", name_of(entry.status)}};
  if (entry.ok()) out["time_ms"] = rounded(entry.time_ms, 6);
  if (entry.ok() && entry.value != entry.time_ms) out["value"] = rounded(entry.value, 9);
  if (!entry.samples_ms.empty()) {
    json::array samples;
    for (const double sample : entry.samples_ms) samples.push_back(rounded(sample, 5));
    out["samples_ms"] = std::move(samples);
  }
  if (entry.compile_ms > 0) out["compile_ms"] = rounded(entry.compile_ms, 5);
  if (entry.verify_ms > 0) out["verify_ms"] = rounded(entry.verify_ms, 5);
  if (entry.bench_ms > 0) out["bench_ms"] = rounded(entry.bench_ms, 5);
  if (!entry.reason.empty()) out["reason"] = cut(entry.reason, 300);
  return print_json_compact(out) + "\n";
}

const Format& own_format() {
  static const Format format = {"tunesmith", "tunesmith's own (JSON lines)", fits, read};
  return format;
}

}  // namespace tunesmith::recording
