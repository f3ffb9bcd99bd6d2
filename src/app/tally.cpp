#include "app/tally.h"

#include <fmt/format.h>

#include <algorithm>

namespace tunesmith::app {

std::uint64_t Tally::failures() const {
  std::uint64_t sum = 0;
  for (const auto& [code, count] : failed) sum += count;
  return sum;
}

std::string Tally::text() const {
  std::string out = fmt::format("{}: {} correct", tried, correct);
  if (!failed.empty()) {
    std::vector<std::pair<std::string, std::uint64_t>> most(failed.begin(), failed.end());
    std::stable_sort(most.begin(), most.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    std::string codes;
    for (const auto& [code, count] : most)
      codes += fmt::format("{}{} {}", codes.empty() ? "" : ", ", count, code);
    out += fmt::format(", {} failed ({})", failures(), codes);
  }
  if (duplicates > 0) out += fmt::format(", {} duplicate{}", duplicates, duplicates == 1 ? "" : "s");
  return out;
}

json::object Tally::to_json() const {
  json::object codes;
  for (const auto& [code, count] : failed) codes[code] = count;
  return json::object{
      {"tried", tried}, {"correct", correct}, {"kept", kept}, {"duplicates", duplicates}, {"failed", codes}};
}

Tally tally_of(const std::vector<tune::Trial>& trials) {
  Tally tally;
  for (const tune::Trial& trial : trials) {
    if (trial.id == 0 || !trial.ended) continue;
    ++tally.tried;
    if (trial.decision.reason == Reason::duplicate) {
      ++tally.duplicates;
    } else if (trial.decision.valid) {
      ++tally.correct;
      tally.kept += trial.decision.keep ? 1 : 0;
    } else {
      const std::string_view code = code_of(trial.decision.reason);
      ++tally.failed[code.empty() ? "no reason" : std::string(code)];
    }
  }
  return tally;
}

}  // namespace tunesmith::app
