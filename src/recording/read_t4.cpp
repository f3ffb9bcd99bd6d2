// T4, the community's format of results: {"results": [{"configuration": {…}, "times": {…}, "invalidity":
// "correct", "measurements": [{"name", "value", "unit"}], "objectives": ["time"]}], "schema_version": …}.
// Times are milliseconds unless the measurement names another unit.
#include <fmt/format.h>

#include <cmath>

#include "base/text.h"
#include "recording/formats.h"

namespace tunesmith::recording {

namespace {

bool fits(const Source&, const Outline& outline) {
  const auto results = outline.value_at("results");
  return results.has_value() && (outline.find("schema_version") != nullptr || outline.broken.has_value() ||
                                 outline.find("metadata") != nullptr);
}

/// Milliseconds of one unit of a time; 1 for a unit that is not known.
double unit_of(std::string_view name) {
  if (name == "s" || name == "seconds") return 1e3;
  if (name == "us" || name == "microseconds") return 1e-3;
  if (name == "ns" || name == "nanoseconds") return 1e-6;
  return 1;
}

struct Measured {
  std::optional<double> number;
  std::string word;
};

Measured measured(const json::object& result, std::string_view name) {
  Measured found;
  const json::value* list = result.if_contains("measurements");
  if (list == nullptr || !list->is_array()) return found;
  for (const json::value& item : list->get_array()) {
    if (!item.is_object() || text_in(item.get_object(), "name") != name) continue;
    const json::object& one = item.get_object();
    found.number = number_in(one, "value");
    if (found.number && name == "time") *found.number *= unit_of(text_in(one, "unit"));
    found.word = text_in(one, "value");
  }
  return found;
}

std::optional<std::string> read_configuration(const json::object& result, Draft& draft, Record& record) {
  const json::value* configuration = result.if_contains("configuration");
  if (configuration == nullptr || !configuration->is_object()) return "it has no configuration";
  const json::object& object = configuration->get_object();
  if (draft.parameters.empty())
    for (const auto& member : object) draft.parameters.push_back({std::string(member.key()), {}});
  for (const space::Parameter& parameter : draft.parameters) {
    const json::value* value = object.if_contains(parameter.name);
    auto known = value != nullptr ? value_of(*value) : std::nullopt;
    if (!known) return fmt::format("no value for {}", printable(parameter.name));
    record.values.push_back(std::move(*known));
  }
  if (object.size() != draft.parameters.size()) return "other parameters than the first result has";
  return std::nullopt;
}

std::optional<std::string> read_result(const json::object& result, Draft& draft, Record& record) {
  if (auto fault = read_configuration(result, draft, record)) return fault;
  if (const json::value* objectives = result.if_contains("objectives");
      objectives != nullptr && objectives->is_array() && !objectives->get_array().empty() &&
      objectives->get_array()[0].is_string()) {
    draft.objective = std::string(objectives->get_array()[0].get_string());
  }
  Entry& entry = record.entry;
  std::vector<double> runtimes;
  if (const json::value* value = result.if_contains("times"); value != nullptr && value->is_object()) {
    const json::object& times = value->get_object();
    // The schema says compilation_time, the program that made most files writes compilation.
    entry.compile_ms =
        number_in(times, "compilation_time").value_or(number_in(times, "compilation").value_or(0));
    entry.verify_ms = number_in(times, "validation").value_or(0);
    entry.bench_ms = number_in(times, "benchmark").value_or(0);
    runtimes = numbers_in(times, "runtimes");
  }
  const std::string invalidity = text_in(result, "invalidity");
  if (!invalidity.empty() && invalidity != "correct") {
    entry.status = invalidity == "correctness" ? Outcome::wrong_result : status_of_word(invalidity);
    entry.reason = printable(invalidity);
    return std::nullopt;
  }
  Measured time = measured(result, "time");
  if (!time.word.empty()) {
    entry.status = status_of_word(time.word);
    entry.reason = printable(time.word);
    return std::nullopt;
  }
  if (!time.number && !runtimes.empty()) {
    double sum = 0;
    for (const double runtime : runtimes) sum += runtime;
    time.number = sum / static_cast<double>(runtimes.size());
  }
  set_time(entry, time.number);
  set_samples(entry, std::move(runtimes));
  if (entry.ok() && draft.objective != "time") {
    const auto value = measured(result, draft.objective).number;
    entry.value = value.value_or(k_nan);
    if (!std::isfinite(entry.value)) {
      entry.status = Outcome::no_time;
      entry.time_ms = entry.value = k_nan;
      entry.samples_ms.clear();
      entry.reason = fmt::format("it has no {}", printable(draft.objective));
    }
  }
  return std::nullopt;
}

Result<Draft> read(const Source& source, const Outline& outline) {
  Draft draft;
  if (const Piece* metadata = outline.find("metadata")) {
    if (const auto value = parse_piece(metadata->text); value && value->is_object()) {
      draft.kernel = text_in(value->get_object(), "kernel");
      draft.device = text_in(value->get_object(), "device");
    }
  }
  const std::size_t results = *outline.value_at("results");
  if (source.text[results] != '[')
    return fail(ErrorCode::invalid, "\"results\" is no list", "", Place{source.path, 0, 0, "/results"});
  const Lines lines(source.text);
  std::vector<std::string> faults = walk_records(source.text, results, lines, [&](const Piece& piece) {
    Record record;
    record.position = lines.at(piece.offset);
    const auto value = parse_piece(piece.text);
    std::optional<std::string> fault = "this record is damaged";
    if (value && value->is_object()) fault = read_result(value->get_object(), draft, record);
    if (fault)
      draft.notes.push_back(fmt::format("result left out, {}: {}", record.position, *fault));
    else
      draft.records.push_back(std::move(record));
  });
  for (std::string& fault : faults) draft.notes.push_back("torn: " + fault);
  draft.maximise = is_rate(draft.objective);
  return draft;
}

}  // namespace

const Format& t4_format() {
  static const Format format = {"t4", "T4 results", fits, read};
  return format;
}

}  // namespace tunesmith::recording
