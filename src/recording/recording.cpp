#include "recording/recording.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace tunesmith::recording {

namespace {

constexpr std::array<std::pair<Outcome, const char*>, 7> k_statuses = {{
    {Outcome::ok, "ok"},
    {Outcome::compile_failed, "compile_failed"},
    {Outcome::runtime_failed, "runtime_failed"},
    {Outcome::wrong_result, "wrong_result"},
    {Outcome::timed_out, "timed_out"},
    {Outcome::refused, "refused"},
    {Outcome::no_time, "no_time"},
}};

}  // namespace

const char* name_of(Outcome status) {
  for (const auto& [value, name] : k_statuses)
    if (value == status) return name;
  return "";
}

std::optional<Outcome> status_from_name(std::string_view name) {
  for (const auto& [value, text] : k_statuses)
    if (name == text) return value;
  return std::nullopt;
}

const Entry* Recording::find(const space::Config& config) const {
  const auto index = space.index_of(config);
  return index && *index < entries.size() ? &entries[*index] : nullptr;
}

const Entry* Recording::best_entry() const {
  const Entry* best = nullptr;
  for (const Entry& entry : entries) {
    if (!entry.ok()) continue;
    if (best == nullptr || (maximise ? entry.value > best->value : entry.value < best->value)) best = &entry;
  }
  return best;
}

std::optional<double> Recording::best() const {
  const Entry* entry = best_entry();
  return entry != nullptr ? std::optional(entry->value) : std::nullopt;
}

double Recording::cost_of(const Entry& entry) const {
  if (!entry.ok()) return k_nan;
  if (lowest > 0) return maximise ? 1 / entry.value : entry.value;
  const double range = highest - lowest;
  const double place = range > 0 ? (entry.value - lowest) / range : 0;
  return std::exp(maximise ? -place : place);
}

std::size_t Recording::failures() const {
  return static_cast<std::size_t>(
      std::count_if(entries.begin(), entries.end(), [](const Entry& entry) { return !entry.ok(); }));
}

}  // namespace tunesmith::recording
