#include "app/run_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tune/runs.h"

namespace tunesmith::app {

constexpr double k_untimed = std::numeric_limits<double>::infinity();

Result<tune::Journal> open_run(const Context& context) {
  TS_ASSIGN(const std::string folder,
            tune::find_run(tune::runs_root(), context.arguments.text("RUN", "latest")));
  return tune::Journal::read_only(folder);
}

std::vector<Standing> standings(const std::vector<tune::Trial>& trials) {
  std::vector<Standing> out;
  std::vector<double> incumbent;
  for (const tune::Trial& trial : trials) {
    Standing standing;
    standing.trial = &trial;
    if (trial.id != 0 && trial.ended && trial.decision.valid) {
      const auto& shapes = trial.evidence.shapes;
      if (incumbent.size() < shapes.size()) incumbent.resize(shapes.size(), 0.0);
      for (std::size_t i = 0; i < shapes.size(); ++i) {
        const TimingEvidence& timing = shapes[i].timing;
        // A candidate that was hopeless on an earlier shape has no time here.
        const bool timed = timing.pairs > 0;
        standing.log_ratio.push_back(timed ? incumbent[i] + timing.log_ratio : k_untimed);
        standing.log_ratio_high.push_back(timed ? incumbent[i] + timing.log_ratio_high : k_untimed);
      }
      if (trial.decision.keep) incumbent = standing.log_ratio;
    }
    out.push_back(std::move(standing));
  }
  return out;
}

namespace {

const tune::Trial* best_kept(const std::vector<tune::Trial>& trials) {
  const tune::Trial* best = nullptr;
  for (const tune::Trial& trial : trials) {
    if (trial.id == 0 || !trial.ended || !trial.decision.keep || !trial.decision.valid) continue;
    if (!std::isfinite(trial.evidence.log_ratio_to_baseline)) continue;
    if (best == nullptr || trial.evidence.log_ratio_to_baseline < best->evidence.log_ratio_to_baseline)
      best = &trial;
  }
  return best;
}

std::optional<std::int64_t> id_in(const json::object& detail, std::string_view key) {
  const json::value* value = detail.if_contains(key);
  if (value == nullptr || !value->is_int64()) return std::nullopt;
  return value->get_int64();
}

}  // namespace

Winner winner_of(const tune::Journal& journal, const std::vector<tune::Trial>& trials) {
  Winner winner;
  const auto events = journal.events();
  bool ended = false;
  std::optional<std::int64_t> named;
  for (const auto& [kind, detail] : events) {
    if (kind != "stop" && kind != "halt") continue;
    const json::value* end = detail.if_contains("end");
    // A run that ended by an error has named nobody: what it has kept still stands.
    ended = end == nullptr || *end != "error";
    named = id_in(detail, "winner");
  }
  if (ended) {
    for (const tune::Trial& trial : trials) {
      if (named && trial.id == *named) winner.trial = &trial;
    }
  } else {
    winner.trial = best_kept(trials);
  }
  if (winner.trial == nullptr) return winner;
  winner.log_ratio = winner.trial->evidence.log_ratio_to_baseline;
  for (const auto& [kind, detail] : events) {
    if (kind != "confirm" || id_in(detail, "trial") != winner.trial->id) continue;
    const auto node = Node::parse(print_json_compact(detail), journal.folder());
    const auto inner = node ? node->find("evidence") : std::nullopt;
    if (!inner) continue;
    if (const auto evidence = evidence_from_json(*inner); evidence && std::isfinite(evidence->log_ratio)) {
      winner.log_ratio = evidence->log_ratio;
      winner.confirmed = true;
    }
  }
  return winner;
}

std::vector<const tune::Trial*> ranking(const std::vector<tune::Trial>& trials) {
  std::vector<const tune::Trial*> out;
  for (const tune::Trial& trial : trials) {
    if (trial.id != 0 && trial.ended && trial.decision.valid &&
        std::isfinite(trial.evidence.log_ratio_to_baseline)) {
      out.push_back(&trial);
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const tune::Trial* a, const tune::Trial* b) {
    return a->evidence.log_ratio_to_baseline < b->evidence.log_ratio_to_baseline;
  });
  return out;
}

std::string config_text(const json::object& config, const json::object* base) {
  std::string out;
  for (const auto& [name, value] : config) {
    if (base != nullptr) {
      const json::value* before = base->if_contains(name);
      if (before != nullptr && *before == value) continue;
    }
    if (!out.empty()) out += ' ';
    const std::string text = value.is_string() ? std::string(value.as_string()) : print_json_compact(value);
    out += fmt::format("{}={}", std::string_view(name), text);
  }
  return out;
}

json::object baseline_config(const tune::Journal& journal) {
  const json::value* baseline = journal.header().extra.if_contains("baseline_config");
  return baseline != nullptr && baseline->is_object() ? baseline->as_object() : json::object{};
}

}  // namespace tunesmith::app
