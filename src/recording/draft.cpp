#include "recording/draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "base/file.h"
#include "base/text.h"

namespace tunesmith::recording {

namespace {

/// A value as a key: 1, 1.0 and true are equal, as in the language that constraints are written in.
std::string key_of(const space::Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return "s" + *text;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "1" : "0";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  const double real = std::get<double>(value);
  constexpr double k_exact = 9007199254740992.0;  // up to here every whole real is one integer
  if (std::trunc(real) == real && std::abs(real) < k_exact)
    return std::to_string(static_cast<std::int64_t>(real));
  return number_text(real);
}

using Positions = std::unordered_map<std::string, std::uint32_t>;

/// Values that no file declares: those that occur; numbers by size, others by first appearance.
void collect_values(Draft& draft) {
  for (std::size_t p = 0; p < draft.parameters.size(); ++p) {
    space::Parameter& parameter = draft.parameters[p];
    Positions seen;
    for (const Record& record : draft.records)
      if (seen.emplace(key_of(record.values[p]), 0).second) parameter.values.push_back(record.values[p]);
    if (parameter.ordered()) {
      std::sort(parameter.values.begin(), parameter.values.end(),
                [](const space::Value& a, const space::Value& b) {
                  return space::number_of(a).value_or(0) < space::number_of(b).value_or(0);
                });
    }
  }
}

class Finisher {
 public:
  Finisher(Draft draft, const std::string& path) : m_draft(std::move(draft)), m_path(path) {}

  Result<Recording> run() {
    if (m_draft.records.empty()) {
      return fail(ErrorCode::unreadable,
                  m_draft.notes.empty() ? "the recording holds no whole record"
                                        : "the recording holds no whole record: " + m_draft.notes.front(),
                  "record it again, or restore the file", Place{m_path, 0, 0, {}});
    }
    if (!m_draft.declared) collect_values(m_draft);
    TS_ASSIGN(const space::Space whole, make_space());
    for (std::size_t p = 0; p < m_draft.parameters.size(); ++p) {
      Positions& positions = m_positions.emplace_back();
      const auto& values = whole.parameters()[p].values;
      for (std::uint32_t i = 0; i < values.size(); ++i) positions.emplace(key_of(values[i]), i);
    }
    place_records(whole);
    if (m_entries.empty()) {
      return fail(ErrorCode::invalid, "no record is of the declared space: " + m_draft.notes.back(),
                  "check parameters and constraints", Place{m_path, 0, 0, {}});
    }
    return assemble(whole);
  }

 private:
  Result<space::Space> make_space() {
    auto space = space::Space::create(m_draft.parameters, m_draft.constraints);
    if (!space) {
      Error error = std::move(space.error());
      if (error.place.file.empty()) error.place.file = m_path;
      return tl::unexpected<Error>(std::move(error));
    }
    return space;
  }

  std::optional<space::Config> config_of(const std::vector<space::Value>& values) const {
    space::Config config;
    for (std::size_t p = 0; p < values.size(); ++p) {
      const auto at = m_positions[p].find(key_of(values[p]));
      if (at == m_positions[p].end()) return std::nullopt;
      config.at.push_back(at->second);
    }
    return config;
  }

  void place_records(const space::Space& whole) {
    std::unordered_map<std::uint64_t, std::size_t> known;
    std::size_t undeclared = 0;
    std::size_t illegal = 0;
    std::size_t repeated = 0;
    std::string first_undeclared;
    std::string first_illegal;
    std::string first_repeated;
    const auto count = [](std::size_t& number, std::string& first, const Record& record) {
      if (number++ == 0) first = record.position;
    };
    for (Record& record : m_draft.records) {
      const auto config = config_of(record.values);
      if (!config) {
        count(undeclared, first_undeclared, record);
        continue;
      }
      const auto index = whole.index_of(*config);
      if (!index) {
        count(illegal, first_illegal, record);
        continue;
      }
      record.entry.config = *config;
      const auto [at, fresh] = known.emplace(*index, m_entries.size());
      if (fresh) {
        m_entries.push_back(std::move(record.entry));
      } else {
        count(repeated, first_repeated, record);
        m_entries[at->second] = std::move(record.entry);
      }
    }
    note(undeclared, first_undeclared, "with a value that its parameter does not list: left out");
    note(illegal, first_illegal, "against the constraints: left out");
    note(repeated, first_repeated, "of a configuration that was recorded before: the last one counts");
  }

  void note(std::size_t number, const std::string& first, const char* what) {
    if (number == 0) return;
    m_draft.notes.push_back(
        fmt::format("{} record{} {} (the first at {})", number, number == 1 ? "" : "s", what, first));
  }

  Result<Recording> assemble(const space::Space& whole) {
    Recording recording;
    recording.file = m_path;
    recording.files = std::move(m_draft.files);
    recording.name = base_name(m_path);
    for (const char* ending : {".gz", ".csv", ".json", ".jsonl"})
      if (recording.name.ends_with(ending))
        recording.name.resize(recording.name.size() - std::string_view(ending).size());
    recording.kernel = printable(m_draft.kernel);
    recording.device = printable(m_draft.device);
    recording.format = m_draft.format;
    recording.objective = printable(m_draft.objective);
    recording.maximise = m_draft.maximise;
    recording.notes = std::move(m_draft.notes);
    if (!whole.note().empty()) recording.notes.push_back(whole.note());
    recording.space = whole;
    if (m_entries.size() < whole.count()) {
      // Without constraints nothing says that more was meant to be recorded.
      if (!m_draft.constraints.empty())
        recording.notes.push_back(
            fmt::format("{} of {} legal configurations are recorded: those are the space", m_entries.size(),
                        whole.count()));
      std::vector<space::Config> points;
      points.reserve(m_entries.size());
      for (const Entry& entry : m_entries) points.push_back(entry.config);
      TS_ASSIGN(recording.space, whole.only(std::move(points)));
    }
    std::sort(m_entries.begin(), m_entries.end(),
              [](const Entry& a, const Entry& b) { return a.config < b.config; });
    for (const Entry& entry : m_entries) {
      if (!entry.ok()) continue;
      recording.lowest = std::isnan(recording.lowest) ? entry.value : std::min(recording.lowest, entry.value);
      recording.highest =
          std::isnan(recording.highest) ? entry.value : std::max(recording.highest, entry.value);
    }
    recording.entries = std::move(m_entries);
    if (m_draft.baseline) {
      const auto config = config_of(*m_draft.baseline);
      const Entry* entry = config ? recording.find(*config) : nullptr;
      if (entry != nullptr && entry->ok()) recording.baseline = config;
    }
    return recording;
  }

  Draft m_draft;
  const std::string& m_path;
  std::vector<Positions> m_positions;
  std::vector<Entry> m_entries;
};

}  // namespace

Result<Recording> finish(Draft draft, const std::string& path) {
  return Finisher(std::move(draft), path).run();
}

void set_time(Entry& entry, std::optional<double> time_ms) {
  const bool good = time_ms && std::isfinite(*time_ms) && *time_ms > 0;
  entry.status = good ? Outcome::ok : Outcome::no_time;
  entry.time_ms = entry.value = good ? *time_ms : k_nan;
  if (!good && entry.reason.empty())
    entry.reason = time_ms ? fmt::format("its time is {}", *time_ms) : "it has no time";
}

void set_samples(Entry& entry, std::vector<double> samples_ms) {
  constexpr double k_same = 0.01;  // rounding and an odd repeat, but no other measurement
  if (!entry.ok() || samples_ms.size() < 2) return;
  for (const double sample : samples_ms)
    if (!std::isfinite(sample) || sample <= 0) return;
  const double mean =
      std::accumulate(samples_ms.begin(), samples_ms.end(), 0.0) / static_cast<double>(samples_ms.size());
  if (std::abs(mean / entry.time_ms - 1) <= k_same) entry.samples_ms = std::move(samples_ms);
}

Outcome status_of_word(std::string_view word) {
  std::string lower(word);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto has = [&](std::string_view part) { return lower.find(part) != std::string::npos; };
  if (has("compil") || has("build")) return Outcome::compile_failed;
  if (has("timeout") || has("timed")) return Outcome::timed_out;
  if (has("valid") && has("fail")) return Outcome::wrong_result;
  if (has("correctness") || has("verif") || has("wrong")) return Outcome::wrong_result;
  if (has("invalid") || has("constraint") || has("limit") || has("refused")) return Outcome::refused;
  if (has("runtime") || has("computation") || has("launch") || has("crash")) return Outcome::runtime_failed;
  return Outcome::no_time;
}

bool is_rate(std::string_view objective) {
  std::string lower(objective);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower.find("flop") != std::string::npos || lower.ends_with("b/s") || lower.ends_with("/w") ||
         lower.ends_with("/j");
}

Result<std::vector<space::Parameter>> read_parameters(const Node& parameters) {
  std::vector<space::Parameter> out;
  TS_ASSIGN(const auto members, parameters.members());
  for (const auto& [name, list] : members) {
    space::Parameter parameter{name, {}};
    TS_ASSIGN(const auto items, list.items());
    for (const Node& item : items) {
      TS_ASSIGN(space::Value value, space::value_from_json(item));
      parameter.values.push_back(std::move(value));
    }
    out.push_back(std::move(parameter));
  }
  return out;
}

std::optional<space::Value> value_of(const json::value& value) {
  if (value.is_bool()) return space::Value(value.get_bool());
  if (value.is_int64()) return space::Value(value.get_int64());
  if (value.is_double()) return space::Value(value.get_double());
  if (value.is_string()) return space::Value(std::string(value.get_string()));
  return std::nullopt;
}

std::optional<double> number_in(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->to_number<double>();
}

std::string text_in(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::vector<double> numbers_in(const json::object& object, std::string_view key) {
  std::vector<double> numbers;
  const json::value* value = object.if_contains(key);
  if (value == nullptr || !value->is_array()) return numbers;
  for (const json::value& item : value->get_array())
    numbers.push_back(item.is_number() ? item.to_number<double>() : k_nan);
  return numbers;
}

}  // namespace tunesmith::recording
