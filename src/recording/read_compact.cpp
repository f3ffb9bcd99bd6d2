// The compact pair: NAME.json (parameters, constraints, kernel, device) beside NAME.csv or NAME.csv.gz (one
// line a configuration: parameters, status, time_ms, compile_ms, verify_ms, bench_ms).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/file.h"
#include "base/text.h"
#include "recording/formats.h"

namespace tunesmith::recording {

namespace {

constexpr std::string_view k_status = "status", k_time = "time_ms";

bool is_table(std::string_view text) {
  const std::string_view first = text.substr(0, text.find('\n'));
  const auto names = split(trim(first), ',');
  return std::find(names.begin(), names.end(), k_status) != names.end() &&
         std::find(names.begin(), names.end(), k_time) != names.end();
}

std::string without(std::string path, std::string_view ending) {
  if (path.ends_with(ending)) path.resize(path.size() - ending.size());
  return path;
}

/// The other half of the pair; empty when it is not there.
std::string table_beside(const std::string& path) {
  const std::string stem = without(path, ".json");
  for (const char* ending : {".csv.gz", ".csv"})
    if (exists(stem + ending)) return stem + ending;
  return {};
}

bool fits(const Source& source, const Outline& outline) {
  if (is_table(source.text)) return true;
  return outline.find("parameters") != nullptr && outline.find("configurations") != nullptr &&
         outline.find("cache") == nullptr;
}

std::optional<double> number_of(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

space::Value value_of_field(std::string_view text) {
  std::int64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error == std::errc() && end == text.data() + text.size()) return whole;
  if (const auto real = number_of(text)) return *real;
  if (text == "True" || text == "true") return true;
  if (text == "False" || text == "false") return false;
  return std::string(text);
}

struct Columns {
  std::vector<std::size_t> parameters;
  std::size_t status = 0, time = 0, compile = 0, verify = 0, bench = 0, count = 0;
};

Result<Columns> columns_of(std::string_view first, const Draft& draft, const std::string& path) {
  Columns columns;
  const auto names = split(trim(first), ',');
  columns.count = names.size();
  const auto find = [&](std::string_view name) -> Result<std::size_t> {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at != names.end()) return static_cast<std::size_t>(at - names.begin());
    return fail(ErrorCode::invalid, fmt::format("there is no column {}", printable(name)),
                "the first line names the parameters, then status,time_ms,compile_ms,verify_ms,bench_ms",
                Place{path, 1, 0, {}});
  };
  for (const space::Parameter& parameter : draft.parameters) {
    TS_ASSIGN(const std::size_t at, find(parameter.name));
    columns.parameters.push_back(at);
  }
  TS_ASSIGN(columns.status, find(k_status));
  TS_ASSIGN(columns.time, find(k_time));
  TS_ASSIGN(columns.compile, find("compile_ms"));
  TS_ASSIGN(columns.verify, find("verify_ms"));
  TS_ASSIGN(columns.bench, find("bench_ms"));
  return columns;
}

Record record_of(const std::vector<std::string_view>& fields, const Columns& columns, std::size_t line) {
  Record record;
  record.position = fmt::format("line {}", line);
  for (const std::size_t at : columns.parameters) record.values.push_back(value_of_field(fields[at]));
  Entry& entry = record.entry;
  entry.compile_ms = number_of(fields[columns.compile]).value_or(0);
  entry.verify_ms = number_of(fields[columns.verify]).value_or(0);
  entry.bench_ms = number_of(fields[columns.bench]).value_or(0);
  const std::string_view word = fields[columns.status];
  if (word == "ok") {
    set_time(entry, number_of(fields[columns.time]));
  } else {
    entry.status = status_from_name(word).value_or(status_of_word(word));
    entry.reason = printable(word);
  }
  return record;
}

Status read_table(const Source& table, Draft& draft) {
  draft.files.push_back(table.path);
  const auto lines = split_lines(table.text);
  TS_ASSIGN(const Columns columns, columns_of(lines.front(), draft, table.path));
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::string_view line = trim(lines[i]);
    if (line.empty()) continue;
    const bool last_of_torn = i + 1 == lines.size() && !table.text.ends_with('\n') && !table.fault.empty();
    const auto fields = split(line, ',');
    if (last_of_torn || fields.size() != columns.count || line.find('\0') != std::string_view::npos) {
      draft.notes.push_back(
          fmt::format("torn: line {}: {} of {} fields", i + 1, fields.size(), columns.count));
      continue;
    }
    draft.records.push_back(record_of(fields, columns, i + 1));
  }
  if (!table.fault.empty()) draft.notes.push_back(table.fault);
  return {};
}

Status read_description(const std::string& path, Draft& draft) {
  draft.files.push_back(path);
  TS_ASSIGN(const Node root, Node::read(path));
  TS_ASSIGN(draft.kernel, root.string_or("kernel", ""));
  TS_ASSIGN(draft.device, root.string_or("device", ""));
  TS_ASSIGN(draft.objective, root.string_or("objective", "time"));
  TS_ASSIGN(const std::string direction, root.string_or("direction", "minimize"));
  draft.maximise = direction == "maximize" || direction == "maximise";
  if (draft.objective != "time" || draft.maximise) {
    return root.error("only recordings of the time are kept in this form",
                      "use another format for other objectives");
  }
  TS_ASSIGN(const Node parameters, root.get("parameters"));
  draft.declared = true;
  TS_ASSIGN(draft.parameters, read_parameters(parameters));
  if (const auto constraints = root.find("constraints")) {
    TS_ASSIGN(const auto items, constraints->items());
    for (const Node& item : items) {
      TS_ASSIGN(std::string text, item.as_string());
      draft.constraints.push_back({std::move(text), item.place()});
    }
  }
  return {};
}

Result<Draft> read(const Source& source, const Outline&) {
  Draft draft;
  if (is_table(source.text)) {
    const std::string description = without(without(source.path, ".gz"), ".csv") + ".json";
    if (exists(description)) {
      TS_TRY(read_description(description, draft));
    } else {
      // The table alone still names its parameters: every column before the status.
      const std::string_view text = source.text;
      for (const std::string_view name : split(trim(text.substr(0, text.find('\n'))), ',')) {
        if (name == k_status) break;
        draft.parameters.push_back({std::string(name), {}});
      }
      draft.notes.push_back("without the .json beside it: the points it holds are the space");
    }
    TS_TRY(read_table(source, draft));
    return draft;
  }
  TS_TRY(read_description(source.path, draft));
  const std::string path = table_beside(source.path);
  if (path.empty()) {
    return fail(ErrorCode::unreadable, "there is no .csv.gz or .csv of the same name beside it",
                "keep the two files together", Place{source.path, 0, 0, {}});
  }
  TS_ASSIGN(const Source table, open_source(path));
  if (!is_table(table.text)) {
    return fail(ErrorCode::unreadable,
                table.text.empty() ? "the table is empty" : "the first line names no status and time_ms",
                "restore the file", Place{path, 1, 0, {}});
  }
  TS_TRY(read_table(table, draft));
  return draft;
}

}  // namespace

const Format& compact_format() {
  static const Format format = {"compact", "compact pairs (NAME.json and NAME.csv.gz)", fits, read};
  return format;
}

}  // namespace tunesmith::recording
