#include "tune/session.h"

#include <cmath>

#include "tune/opening_json.h"

namespace tunesmith::tune {

namespace {

std::int64_t number_in(const json::object& detail, std::string_view key) {
  const json::value* value = detail.if_contains(key);
  return value != nullptr && value->is_int64() ? value->get_int64() : 0;
}

std::string text_in(const json::object& detail, std::string_view key) {
  const json::value* value = detail.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

/// Events come from our own journal; a Node gives their faults a place.
Result<Node> node_of(const json::object& detail, const std::string& folder) {
  return Node::parse(print_json_compact(detail), folder + "/journal.sqlite");
}

}  // namespace

Session::Session(const Parts& parts) : m_p(parts), m_guard(parts.c, parts.journal.header(), m_p.options) {}

double Session::spent() const {
  return m_spent_before + static_cast<double>(m_p.clock.now_ns() - m_started_ns) / 1e9;
}

Status Session::load() {
  m_started_ns = m_p.clock.now_ns();
  m_spent_before = m_p.journal.spent_seconds();
  for (Trial& trial : m_p.journal.trials()) {
    m_trials.push_back(std::move(trial));
    m_recorded[m_trials.back().batch].push_back(&m_trials.back());
  }
  for (const auto& [kind, detail] : m_p.journal.events()) {
    if (kind == "ask") {
      m_asks[number_in(detail, "batch")] = static_cast<std::size_t>(number_in(detail, "count"));
    } else if (kind == "build") {
      m_build_boots[number_in(detail, "batch")] = text_in(detail, "boot");
    } else if (kind == "rollback") {
      m_rollbacks_recorded.insert(number_in(detail, "trial"));
    } else if (kind == "stop" || kind == "halt") {
      m_clean_sessions.insert(text_in(detail, "session"));
    } else if (kind == "confirm") {
      TS_ASSIGN(const Node node, node_of(detail, m_p.journal.folder()));
      TS_ASSIGN(const Node evidence_node, node.get("evidence"));
      TS_ASSIGN(const Node decision_node, node.get("decision"));
      TS_ASSIGN(Evidence evidence, evidence_from_json(evidence_node));
      TS_ASSIGN(judge::Decision decision, decision_from_json(decision_node));
      m_confirmed[number_in(detail, "trial")] = {std::move(evidence), std::move(decision)};
    } else if (kind == "opening") {
      TS_ASSIGN(const Node node, node_of(detail, m_p.journal.folder()));
      TS_ASSIGN(m_summary.opening, opening_from_json(node));
      m_baseline_identity = text_in(detail, "baseline_identity");
      if (const json::value* sources = detail.if_contains("sources");
          sources != nullptr && sources->is_object()) {
        m_guard.expect_sources(sources->get_object());
      }
      m_opening_recorded = true;
    }
  }
  return {};
}

/// Nothing is opened for a run that only has to be replayed.
Status Session::ensure_open() {
  if (m_open) return {};
  report("opening", nullptr);
  TS_ASSIGN(bench::Opening opening, m_p.bench.open());
  if (m_opening_recorded) {
    if (opening.toolchain != m_summary.opening.toolchain) {
      return fail(ErrorCode::conflict,
                  fmt::format("the compiler changed since the run began: {} then, {} now",
                              m_summary.opening.toolchain, opening.toolchain),
                  "resume with the same compiler, or start a new run");
    }
    if (opening.baseline.machine != m_summary.opening.baseline.machine) {
      return fail(ErrorCode::conflict,
                  fmt::format("the run began on another machine: {} then, {} now",
                              m_summary.opening.baseline.machine, opening.baseline.machine),
                  "resume it there, or start a new run");
    }
  } else {
    m_summary.opening = std::move(opening);
    if (m_p.c.baseline.kind == Baseline::Kind::config && m_p.c.baseline.config) {
      TS_ASSIGN(m_baseline_identity, m_p.bench.identity(Candidate{*m_p.c.baseline.config, {}}));
    }
    json::object detail = opening_to_json(m_summary.opening);
    detail["baseline_identity"] = m_baseline_identity;
    detail["sources"] = m_guard.sources_to_json();
    TS_TRY(m_p.journal.event("opening", detail, spent()));
    m_opening_recorded = true;
  }
  m_open = true;
  return restore_incumbent();
}

Status Session::restore_incumbent() {
  const Evidence& baseline = m_summary.opening.baseline;
  m_standing.baseline_latency_ms = judge::latency_of(baseline);
  m_standing.trust_self_reported = m_p.options.trust_self_reported;
  if (!std::isfinite(m_standing.baseline_latency_ms)) {
    return fail(ErrorCode::infra, "the baseline was not timed on every shape", "run `case check` to see why");
  }
  m_baseline_objective = m_p.objective.score(judge::figures_of(baseline, m_standing.baseline_latency_ms));
  if (m_incumbent == nullptr) {
    m_standing.incumbent_objective = m_baseline_objective;
    return {};
  }
  TS_ASSIGN(const Node node, node_of(m_incumbent->config, m_p.journal.folder()));
  TS_ASSIGN(space::Config config, m_p.c.space.from_json(node));
  const Candidate candidate{std::move(config), m_incumbent->diff};
  const std::vector<bench::Built> built = m_p.bench.build(std::span(&candidate, 1));
  if (built.size() != 1 || built[0].evidence.outcome != BuildEvidence::Outcome::ok) {
    return fail(ErrorCode::infra,
                fmt::format("the incumbent, trial {}, could not be built again: {}", m_incumbent->id,
                            built.empty() ? "" : built[0].evidence.detail));
  }
  return m_p.bench.set_incumbent(&candidate, &built[0], m_incumbent->evidence.log_ratio_to_baseline);
}

Session::Stop Session::limit_reached() const {
  if (stopped()) return Summary::End::interrupted;
  if (m_p.options.evaluations > 0 && m_summary.evaluations >= m_p.options.evaluations)
    return Summary::End::evaluations;
  if (m_p.options.minutes > 0 && spent() >= m_p.options.minutes * 60) return Summary::End::minutes;
  return std::nullopt;
}

std::size_t Session::batch_size(std::int64_t batch) const {
  if (const auto recorded = m_asks.find(batch); recorded != m_asks.end()) return recorded->second;
  const std::uint64_t header = m_p.journal.header().batch;
  const std::size_t wished =
      header > 0 ? static_cast<std::size_t>(header) : std::max<std::size_t>(1, m_p.options.batch);
  if (m_p.options.evaluations == 0) return wished;
  return static_cast<std::size_t>(
      std::min<std::uint64_t>(wished, m_p.options.evaluations - m_summary.evaluations));
}

Result<std::vector<Session::Item>> Session::propose(std::int64_t batch, std::size_t count) {
  std::vector<Item> items;
  const std::vector<Trial*>& recorded = m_recorded[batch];
  const std::vector<space::Config> wished = m_p.strategy.ask(count);
  if (recorded.size() > wished.size()) {
    return fail(ErrorCode::conflict,
                fmt::format("the strategy proposes less in batch {} than the journal has", batch),
                "resume with the program version, strategy and seed that began the run");
  }
  for (std::size_t i = 0; i < wished.size(); ++i) {
    Item item{{wished[i], {}}, nullptr, {}};
    const json::object config = m_p.c.space.to_json(wished[i]);
    if (i < recorded.size()) {
      item.trial = recorded[i];
      if (json::value(item.trial->config) != json::value(config)) {
        return fail(ErrorCode::conflict,
                    fmt::format("the strategy proposes otherwise in batch {} than the journal has", batch),
                    "resume with the program version, strategy and seed that began the run");
      }
    } else {
      TS_TRY(ensure_open());
      Trial trial;
      trial.batch = batch;
      trial.config = config;
      TS_ASSIGN(trial.identity, m_p.bench.identity(item.candidate));
      TS_ASSIGN(trial.id, m_p.journal.propose(batch, config, item.candidate.diff, trial.identity));
      m_trials.push_back(std::move(trial));
      item.trial = &m_trials.back();
    }
    m_first_of_identity.emplace(item.trial->identity, item.trial->id);
    items.push_back(std::move(item));
  }
  return items;
}

Result<Session::Stop> Session::run_batch(std::int64_t batch) {
  const bool replayed = m_asks.contains(batch);
  if (!replayed) {
    if (const Stop stop = limit_reached()) return stop;
    if (auto change = m_guard.changed()) {
      m_summary.end_detail = std::move(*change);
      return Stop(Summary::End::halted);
    }
  }
  const std::size_t count = batch_size(batch);
  if (!replayed) TS_TRY(m_p.journal.event("ask", {{"batch", batch}, {"count", count}}, spent()));
  TS_ASSIGN(std::vector<Item> items, propose(batch, count));
  if (items.empty()) return Stop(Summary::End::exhausted);

  const bool any_open =
      std::any_of(items.begin(), items.end(), [](const Item& item) { return !item.trial->ended; });
  // What is recorded is accounted for first: the limits below must see it.
  std::size_t next = 0;
  for (; next < items.size() && items[next].trial->ended; ++next) {
    TS_TRY(account(*items[next].trial, items[next].candidate.config));
  }
  if (!any_open) return Stop();
  if (const Stop stop = limit_reached()) return stop;
  if (replayed) {
    if (auto change = m_guard.changed()) {
      m_summary.end_detail = std::move(*change);
      return Stop(Summary::End::halted);
    }
  }
  TS_TRY(ensure_open());
  const auto built_under = m_build_boots.find(batch);
  // After the machine went down, one at a time, each written down before it is touched: the culprit shows
  // itself.
  const bool cautious =
      (built_under != m_build_boots.end() && built_under->second != m_p.journal.boot()) ||
      std::any_of(items.begin(), items.end(), [&](const Item& i) { return was_killed_by_machine(*i.trial); });
  if (!cautious) TS_TRY(build(batch, items));
  for (; next < items.size(); ++next) {
    if (items[next].trial->ended) {
      TS_TRY(account(*items[next].trial, items[next].candidate.config));
      continue;
    }
    if (const Stop stop = limit_reached()) return stop;
    TS_ASSIGN(const bool ended, evaluate(items[next], cautious));
    if (!ended) return Stop(Summary::End::interrupted);
  }
  return Stop();
}

Session::Stop Session::enough() {
  const LoopOptions& options = m_p.options;
  if (options.enough_of_light > 0 && m_best_fraction >= options.enough_of_light) {
    m_summary.end_detail = fmt::format("{:.1f} % of the speed of light", 100 * m_best_fraction);
    return Summary::End::speed_of_light;
  }
  if (options.no_improve_rounds > 0 && m_rounds_without >= options.no_improve_rounds) {
    m_summary.end_detail = fmt::format("{} rounds without one", m_rounds_without);
    return Summary::End::no_improvement;
  }
  return std::nullopt;
}

Result<Session::Stop> Session::search() {
  for (std::int64_t batch = 1;; ++batch) {
    const std::uint64_t kept_before = m_summary.kept;
    TS_ASSIGN(const Stop stop, run_batch(batch));
    if (stop) return stop;
    m_rounds_without = m_summary.kept > kept_before ? 0 : m_rounds_without + 1;
    // A run that went on after it had enough was told to.
    if (m_asks.contains(batch + 1)) continue;
    if (const Stop done = enough()) return done;
  }
}

Result<Summary> Session::run() {
  TS_TRY(m_guard.check_handed_in(m_p.gate, m_p.objective));
  TS_TRY(load());
  if (m_opening_recorded) {
    // Recorded figures, no bench yet.
    m_standing.baseline_latency_ms = judge::latency_of(m_summary.opening.baseline);
    m_baseline_objective =
        m_p.objective.score(judge::figures_of(m_summary.opening.baseline, m_standing.baseline_latency_ms));
    m_standing.incumbent_objective = m_baseline_objective;
  }
  const auto searched = search();
  if (!searched && !(searched.error().code == ErrorCode::interrupted && stopped())) {
    return tl::unexpected<Error>(searched.error());
  }
  m_summary.end = searched ? **searched : Summary::End::interrupted;
  if (m_summary.end == Summary::End::interrupted || m_summary.end == Summary::End::halted) {
    const auto kept = kept_best_first();
    if (!kept.empty()) m_summary.winner = *kept.front();
  } else {
    TS_TRY(confirm_winner());
  }
  m_summary.seconds = spent();
  return m_summary;
}

void Session::report(const char* stage, const Trial* last) {
  if (!m_p.progress) return;
  Progress progress;
  progress.done = m_summary.evaluations;
  progress.limit = m_p.options.evaluations;
  progress.seconds = spent();
  progress.seconds_limit = m_p.options.minutes * 60;
  progress.best_speedup = std::exp(-m_best_log_ratio);
  progress.best_fraction_of_floor = m_best_fraction;
  progress.failures = m_summary.failures;
  progress.last = last;
  progress.stage = stage;
  m_p.progress(progress);
}

}  // namespace tunesmith::tune
