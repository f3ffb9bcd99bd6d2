#include "recording/write.h"

#include "base/json.h"
#include "recording/own.h"

namespace tunesmith::recording {

namespace {

const char* invalidity_of(Outcome status) {
  switch (status) {
    case Outcome::ok:
      return "correct";
    case Outcome::compile_failed:
      return "compile";
    case Outcome::runtime_failed:
    case Outcome::no_time:
      return "runtime";
    case Outcome::wrong_result:
      return "correctness";
    case Outcome::timed_out:
      return "timeout";
    case Outcome::refused:
      return "constraints";
  }
  return "runtime";
}

json::object t4_result(const Recording& recording, const Entry& entry) {
  json::array runtimes;
  for (const double sample : entry.samples_ms) runtimes.emplace_back(sample);
  if (runtimes.empty() && entry.ok()) runtimes.emplace_back(entry.time_ms);
  json::array measurements;
  if (entry.ok()) {
    measurements.push_back(json::object{{"name", "time"}, {"value", entry.time_ms}, {"unit", "ms"}});
    if (recording.objective != "time")
      measurements.push_back(
          json::object{{"name", recording.objective}, {"value", entry.value}, {"unit", ""}});
  }
  return {{"configuration", recording.space.to_json(entry.config)},
          {"times", json::object{{"compilation_time", entry.compile_ms},
                                 {"benchmark", entry.bench_ms},
                                 {"framework", 0},
                                 {"search_algorithm", 0},
                                 {"validation", entry.verify_ms},
                                 {"runtimes", std::move(runtimes)}}},
          {"invalidity", invalidity_of(entry.status)},
          {"correctness", entry.ok() ? 1 : 0},
          {"measurements", std::move(measurements)},
          {"objectives", json::array{recording.objective}}};
}

}  // namespace

std::string to_own(const Recording& recording) {
  Header header;
  header.name = recording.name;
  header.kernel = recording.kernel;
  header.device = recording.device;
  header.objective = recording.objective;
  header.maximise = recording.maximise;
  header.parameters = recording.space.parameters();
  for (const space::Space::Constraint& constraint : recording.space.constraints())
    header.constraints.push_back(constraint.text);
  if (recording.baseline) {
    header.baseline = recording.space.to_json(*recording.baseline);
    header.baseline_ms = recording.find(*recording.baseline)->time_ms;
  }
  std::string text = header_line(header);
  for (const Entry& entry : recording.entries)
    text += entry_line(recording.space.to_json(entry.config), entry);
  return text;
}

std::string to_t4(const Recording& recording) {
  // A line a result, so that the file can be read and compared by lines.
  std::string text = "{\"schema_version\": \"1.0.0\",\n\"metadata\": ";
  text += print_json_compact(json::object{{"kernel", recording.kernel}, {"device", recording.device}});
  text += ",\n\"results\": [\n";
  for (std::size_t i = 0; i < recording.entries.size(); ++i) {
    text += print_json_compact(t4_result(recording, recording.entries[i]));
    text += i + 1 < recording.entries.size() ? ",\n" : "\n";
  }
  return text + "]}\n";
}

}  // namespace tunesmith::recording
