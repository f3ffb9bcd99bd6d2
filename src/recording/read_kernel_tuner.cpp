// Kernel Tuner's cache files: a JSON object whose "cache" grows by one line an evaluation and is closed only
// when the run ends well. `time` is milliseconds, whole or real, or the name of a failure.
#include <fmt/format.h>

#include <cmath>

#include "base/text.h"
#include "recording/formats.h"

namespace tunesmith::recording {

namespace {

bool fits(const Source&, const Outline& outline) {
  return outline.find("tune_params_keys") != nullptr && outline.value_at("cache").has_value();
}

std::string text_of(const Outline& outline, std::string_view key) {
  const Piece* piece = outline.find(key);
  const auto value = piece != nullptr ? parse_piece(piece->text) : std::nullopt;
  return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

tl::unexpected<Error> bad_header(const Source& source, const std::string& message) {
  return fail(ErrorCode::invalid, message,
              "a cache file of Kernel Tuner lists tune_params_keys and tune_params",
              Place{source.path, 0, 0, {}});
}

Status read_parameters(const Source& source, const Outline& outline, Draft& draft) {
  const auto names = parse_piece(outline.find("tune_params_keys")->text);
  if (!names || !names->is_array()) return bad_header(source, "tune_params_keys is no list");
  for (const json::value& name : names->get_array()) {
    if (!name.is_string()) return bad_header(source, "tune_params_keys holds something that is no name");
    draft.parameters.push_back({std::string(name.get_string()), {}});
  }
  // The oldest files have no lists of values; then those that occur are all that is known.
  const Piece* lists = outline.find("tune_params");
  const auto values = lists != nullptr ? parse_piece(lists->text) : std::nullopt;
  if (!values || !values->is_object()) return {};
  draft.declared = true;
  for (space::Parameter& parameter : draft.parameters) {
    const json::value* list = values->get_object().if_contains(parameter.name);
    if (list == nullptr || !list->is_array())
      return bad_header(source, fmt::format("tune_params has no list for {}", printable(parameter.name)));
    for (const json::value& item : list->get_array()) {
      auto value = value_of(item);
      if (!value)
        return bad_header(source,
                          fmt::format("the parameter {} has a value that is no number, word or truth value",
                                      printable(parameter.name)));
      parameter.values.push_back(std::move(*value));
    }
  }
  return {};
}

/// Restrictions are no part of the format, but files that carry them as text are understood.
void read_constraints(const Source& source, const Outline& outline, Draft& draft) {
  for (const char* key : {"restrictions", "constraints"}) {
    const Piece* piece = outline.find(key);
    const auto list = piece != nullptr ? parse_piece(piece->text) : std::nullopt;
    if (!list || !list->is_array()) continue;
    for (const json::value& item : list->get_array())
      if (item.is_string())
        draft.constraints.push_back(
            {std::string(item.get_string()), Place{source.path, 0, 0, fmt::format("/{}", key)}});
  }
}

std::optional<std::string> read_record(const json::object& object, const Draft& draft, Record& record) {
  for (const space::Parameter& parameter : draft.parameters) {
    const json::value* value = object.if_contains(parameter.name);
    auto known = value != nullptr ? value_of(*value) : std::nullopt;
    if (!known) return fmt::format("the record has no value for {}", printable(parameter.name));
    record.values.push_back(std::move(*known));
  }
  Entry& entry = record.entry;
  entry.compile_ms = number_in(object, "compile_time").value_or(0);
  entry.verify_ms = number_in(object, "verification_time").value_or(0);
  entry.bench_ms = number_in(object, "benchmark_time").value_or(0);
  const json::value* time = object.if_contains("time");
  if (time == nullptr) time = object.if_contains(draft.objective);
  if (time != nullptr && time->is_string()) {
    const std::string_view word(time->get_string());
    entry.status = status_of_word(word);
    entry.reason = printable(word);
    return std::nullopt;
  }
  set_time(entry,
           time != nullptr && time->is_number() ? std::optional(time->to_number<double>()) : std::nullopt);
  set_samples(entry, numbers_in(object, "times"));
  if (entry.ok() && draft.objective != "time") {
    const auto value = number_in(object, draft.objective);
    if (value && std::isfinite(*value)) {
      entry.value = *value;
    } else {
      entry = Entry{.status = Outcome::no_time,
                    .compile_ms = entry.compile_ms,
                    .verify_ms = entry.verify_ms,
                    .bench_ms = entry.bench_ms,
                    .reason = fmt::format("it has no {}", printable(draft.objective))};
    }
  }
  return std::nullopt;
}

Result<Draft> read(const Source& source, const Outline& outline) {
  Draft draft;
  draft.kernel = text_of(outline, "kernel_name");
  draft.device = text_of(outline, "device_name");
  if (const std::string objective = text_of(outline, "objective"); !objective.empty())
    draft.objective = objective;
  draft.maximise = is_rate(draft.objective);
  if (const Piece* higher = outline.find("objective_higher_is_better"))
    draft.maximise = higher->text == "true";
  TS_TRY(read_parameters(source, outline, draft));
  read_constraints(source, outline, draft);
  const std::size_t cache = *outline.value_at("cache");
  if (source.text[cache] != '{') return bad_header(source, "\"cache\" is no object");
  const Lines lines(source.text);
  std::vector<std::string> faults = walk_records(source.text, cache, lines, [&](const Piece& piece) {
    Record record;
    record.position = lines.at(piece.offset);
    const auto value = parse_piece(piece.text);
    std::optional<std::string> fault = "this record is damaged";
    if (value && value->is_object()) fault = read_record(value->get_object(), draft, record);
    if (fault)
      draft.notes.push_back(fmt::format("record \"{}\" left out, {}: {}", printable(cut(piece.key, 80)),
                                        record.position, *fault));
    else
      draft.records.push_back(std::move(record));
  });
  for (std::string& fault : faults) draft.notes.push_back("torn: " + fault);
  return draft;
}

}  // namespace

const Format& kernel_tuner_format() {
  static const Format format = {"kernel-tuner", "Kernel Tuner cache files", fits, read};
  return format;
}

}  // namespace tunesmith::recording
