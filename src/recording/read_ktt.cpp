// KTT's JSON results: {"Metadata": {"TimeUnit": …}, "Results": [{"Configuration": [{"Name", "Value"}],
// "Status", "TotalDuration", …}]}. Every time of the file is in its one unit.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "recording/formats.h"

namespace tunesmith::recording {

namespace {

bool fits(const Source&, const Outline& outline) {
  return outline.find("Metadata") != nullptr && outline.value_at("Results").has_value();
}

/// Milliseconds of one unit; nullopt for a unit that is not known.
std::optional<double> unit_of(std::string_view name) {
  if (name == "Nanoseconds") return 1e-6;
  if (name == "Microseconds") return 1e-3;
  if (name == "Milliseconds") return 1.0;
  if (name == "Seconds") return 1e3;
  return std::nullopt;
}

using Values = std::vector<std::pair<std::string, space::Value>>;

std::optional<Values> values_of(const json::object& result) {
  const json::value* list = result.if_contains("Configuration");
  if (list == nullptr || !list->is_array()) return std::nullopt;
  Values values;
  for (const json::value& item : list->get_array()) {
    if (!item.is_object()) return std::nullopt;
    const json::value* value = item.get_object().if_contains("Value");
    auto known = value != nullptr ? value_of(*value) : std::nullopt;
    if (!known) return std::nullopt;
    values.emplace_back(text_in(item.get_object(), "Name"), std::move(*known));
  }
  return values;
}

/// In the order of the first result, whatever order this one has.
std::optional<std::string> place(const Values& values, Draft& draft, Record& record) {
  if (draft.parameters.empty())
    for (const auto& [name, value] : values) draft.parameters.push_back({name, {}});
  for (const space::Parameter& parameter : draft.parameters) {
    const auto at = std::find_if(values.begin(), values.end(),
                                 [&](const auto& pair) { return pair.first == parameter.name; });
    if (at == values.end()) return fmt::format("no value for {}", printable(parameter.name));
    record.values.push_back(at->second);
  }
  if (values.size() != draft.parameters.size()) return "other parameters than the first result has";
  return std::nullopt;
}

std::optional<std::string> read_result(const json::object& result, double unit, Draft& draft,
                                       Record& record) {
  const auto values = values_of(result);
  if (!values) return "it has no configuration";
  if (auto fault = place(*values, draft, record)) return fault;
  if (draft.kernel.empty()) draft.kernel = text_in(result, "KernelName");
  Entry& entry = record.entry;
  entry.verify_ms = number_in(result, "ValidationOverhead").value_or(0) * unit;
  entry.compile_ms = number_in(result, "TotalOverhead").value_or(0) * unit;
  entry.bench_ms =
      (number_in(result, "TotalDuration").value_or(0) + number_in(result, "ExtraDuration").value_or(0)) *
      unit;
  const std::string status = text_in(result, "Status");
  if (status == "Ok") {
    const auto duration = number_in(result, "TotalDuration");
    set_time(entry, duration ? std::optional(*duration * unit) : std::nullopt);
    return std::nullopt;
  }
  entry.status = status_of_word(status);
  entry.reason = printable(status);
  return std::nullopt;
}

Result<Draft> read(const Source& source, const Outline& outline) {
  Draft draft;
  const auto metadata = parse_piece(outline.find("Metadata")->text);
  const std::string unit_name =
      metadata && metadata->is_object() ? text_in(metadata->get_object(), "TimeUnit") : std::string();
  const auto unit = unit_of(unit_name);
  if (!unit) {
    return fail(ErrorCode::invalid, fmt::format("the time unit \"{}\" is not known", printable(unit_name)),
                "KTT writes Nanoseconds, Microseconds, Milliseconds or Seconds",
                Place{source.path, 0, 0, "/Metadata/TimeUnit"});
  }
  draft.device = text_in(metadata->get_object(), "Device");
  const std::size_t results = *outline.value_at("Results");
  if (source.text[results] != '[') {
    return fail(ErrorCode::invalid, "\"Results\" is no list", "", Place{source.path, 0, 0, "/Results"});
  }
  const Lines lines(source.text);
  std::vector<std::string> faults = walk_records(source.text, results, lines, [&](const Piece& piece) {
    Record record;
    record.position = lines.at(piece.offset);
    const auto value = parse_piece(piece.text);
    std::optional<std::string> fault = "this record is damaged";
    if (value && value->is_object()) fault = read_result(value->get_object(), *unit, draft, record);
    if (fault)
      draft.notes.push_back(fmt::format("result left out, {}: {}", record.position, *fault));
    else
      draft.records.push_back(std::move(record));
  });
  for (std::string& fault : faults) draft.notes.push_back("torn: " + fault);
  return draft;
}

}  // namespace

const Format& ktt_format() {
  static const Format format = {"ktt", "KTT results (JSON)", fits, read};
  return format;
}

}  // namespace tunesmith::recording
