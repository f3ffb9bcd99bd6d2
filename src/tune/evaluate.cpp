#include <cmath>
#include <limits>

#include "stats/descriptive.h"
#include "tune/session.h"

namespace tunesmith::tune {

namespace {

/// So many candidates in a row that the bench could not judge: then it is the bench, and going on is a waste.
constexpr int k_infra_in_row = 10;

judge::Decision rejected(Reason reason, std::string detail) {
  judge::Decision decision;
  decision.reason = reason;
  decision.detail = std::move(detail);
  decision.objective = std::numeric_limits<double>::infinity();
  return decision;
}

/// Speed of light over latency, all shapes; 0 when a shape's floor is unknown.
double fraction_of_floor(const Evidence& evidence) {
  std::vector<double> fractions;
  std::vector<double> weights;
  for (const ShapeEvidence& s : evidence.shapes) {
    if (!(s.timing.floor_ms > 0) || !(s.timing.latency_ms > 0)) return 0;
    fractions.push_back(s.timing.floor_ms / s.timing.latency_ms);
    weights.push_back(s.weight);
  }
  return fractions.empty() ? 0 : stats::weighted_geometric_mean(fractions, weights);
}

}  // namespace

bool Session::was_killed_by_machine(const Trial& trial) const {
  return !trial.ended && std::any_of(trial.starts.begin(), trial.starts.end(), [&](const Start& s) {
    return s.boot != m_p.journal.boot() && !m_clean_sessions.contains(s.session);
  });
}

std::string Session::kill_verdict(const Trial& trial) const {
  std::set<std::string> boots;
  std::set<std::string> sessions;
  for (const Start& s : trial.starts) {
    if (s.session == m_p.journal.session() || m_clean_sessions.contains(s.session)) continue;
    if (s.boot == m_p.journal.boot()) {
      sessions.insert(s.session);
    } else {
      boots.insert(s.boot);
    }
  }
  if (static_cast<int>(boots.size()) >= m_p.options.kill_limit) {
    return fmt::format("killed the machine: it went down {} times during this evaluation; skipped",
                       boots.size());
  }
  if (static_cast<int>(sessions.size()) >= m_p.options.process_kill_limit) {
    return fmt::format("the program died {} times during this evaluation; skipped", sessions.size());
  }
  return {};
}

/// Decisions that need no build and no measurement: against the space's rules, a kernel known already, one
/// that kills.
std::optional<judge::Decision> Session::settled_without_work(const Item& item, Evidence& evidence) const {
  const Trial& trial = *item.trial;
  if (const auto broken = m_p.c.space.broken(item.candidate.config))
    return rejected(Reason::constraint, *broken);
  if (!m_baseline_identity.empty() && trial.identity == m_baseline_identity) {
    judge::Decision decision = rejected(Reason::duplicate, "the same kernel as the baseline");
    decision.valid = true;
    decision.verdict = judge::Verdict::same;
    decision.objective = m_baseline_objective;
    return decision;
  }
  const std::int64_t first = m_first_of_identity.at(trial.identity);
  if (first != trial.id) {
    const Trial& known = m_trials[static_cast<std::size_t>(first - 1)];
    judge::Decision decision = rejected(Reason::duplicate, fmt::format("the same kernel as trial {}", first));
    decision.valid = known.decision.valid;
    decision.verdict = known.decision.verdict;
    decision.objective = known.decision.objective;
    evidence.log_ratio_to_baseline = known.evidence.log_ratio_to_baseline;
    return decision;
  }
  if (const std::string verdict = kill_verdict(trial); !verdict.empty())
    return rejected(Reason::crashed, verdict);
  return std::nullopt;
}

bool Session::needs_work(const Item& item) const {
  Evidence unused;
  return !item.trial->ended && !settled_without_work(item, unused);
}

Status Session::build(std::int64_t batch, std::vector<Item>& items) {
  std::vector<Candidate> candidates;
  std::vector<Item*> waiting;
  for (Item& item : items) {
    if (!needs_work(item)) continue;
    candidates.push_back(item.candidate);
    waiting.push_back(&item);
  }
  if (waiting.empty()) return {};
  report("building", nullptr);
  TS_TRY(m_p.journal.event("build", {{"batch", batch}, {"boot", m_p.journal.boot()}}, spent()));
  std::vector<bench::Built> built = m_p.bench.build(candidates);
  if (built.size() != waiting.size()) {
    return fail(ErrorCode::internal,
                fmt::format("{} candidates were built and {} came back", waiting.size(), built.size()));
  }
  for (std::size_t i = 0; i < waiting.size(); ++i) waiting[i]->built = std::move(built[i]);
  return {};
}

/// Nothing when a person stopped it in the middle.
Result<std::optional<Evidence>> Session::measure(Item& item, bool cautious) {
  Evidence evidence;
  for (int attempt = 0; attempt <= m_p.options.infra_retries; ++attempt) {
    if (cautious || attempt > 0) TS_TRY(m_p.journal.start(item.trial->id, spent()));
    if (!item.built || item.built->evidence.outcome == BuildEvidence::Outcome::infra) {
      std::vector<bench::Built> built = m_p.bench.build(std::span(&item.candidate, 1));
      if (built.size() != 1) return fail(ErrorCode::internal, "a candidate was built and nothing came back");
      item.built = std::move(built[0]);
    }
    if (item.built->evidence.outcome == BuildEvidence::Outcome::ok) {
      if (!cautious && attempt == 0) TS_TRY(m_p.journal.start(item.trial->id, spent()));
      evidence = m_p.bench.measure(item.candidate, *item.built);
      if (evidence.build.identity.empty()) evidence.build = item.built->evidence;
    } else {
      evidence = Evidence{};
      evidence.build = item.built->evidence;
      evidence.infra = evidence.build.outcome == BuildEvidence::Outcome::infra;
      evidence.wall_ms = evidence.build.wall_ms;
      evidence.machine = m_summary.opening.baseline.machine;
      evidence.isolation = m_summary.opening.isolation;
    }
    if (!evidence.infra) break;
    if (stopped()) return std::optional<Evidence>();
  }
  return std::optional<Evidence>(std::move(evidence));
}

Result<bool> Session::evaluate(Item& item, bool cautious) {
  Evidence evidence;
  evidence.build.identity = item.trial->identity;
  if (const auto settled = settled_without_work(item, evidence)) {
    TS_TRY(end(item, evidence, *settled));
    return true;
  }
  report("measuring", nullptr);
  TS_ASSIGN(auto measured, measure(item, cautious));
  if (!measured) return false;
  const judge::Decision decision = judge::decide(*measured, m_p.c, m_p.gate, m_p.objective, m_standing);
  TS_TRY(end(item, *measured, decision));
  if (decision.keep) {
    TS_TRY(m_p.bench.set_incumbent(&item.candidate, &*item.built, measured->log_ratio_to_baseline));
  }
  m_infra_in_row = decision.reason == Reason::infra ? m_infra_in_row + 1 : 0;
  if (m_infra_in_row >= k_infra_in_row) {
    return fail(
        ErrorCode::infra,
        fmt::format("the bench failed on {} candidates in a row, last: {}", m_infra_in_row, decision.detail),
        "mend it and resume; no candidate was charged for it");
  }
  return true;
}

Status Session::end(Item& item, const Evidence& evidence, const judge::Decision& decision) {
  TS_TRY(m_p.journal.end(item.trial->id, evidence, decision, spent()));
  item.trial->ended = true;
  item.trial->evidence = evidence;
  item.trial->decision = decision;
  TS_TRY(account(*item.trial, item.candidate.config));
  report("measuring", item.trial);
  return {};
}

/// What the strategy learns: by default the log of the time over the baseline's, which no plateau of the
/// machine moves.
std::optional<double> Session::told_value(const Trial& trial) const {
  if (!trial.decision.valid) return std::nullopt;
  const double value =
      m_p.objective.has_formula() ? trial.decision.objective : trial.evidence.log_ratio_to_baseline;
  return std::isfinite(value) ? std::optional<double>(value) : std::nullopt;
}

/// The one place where an ended trial, replayed or live, changes the state of the run.
Status Session::account(const Trial& trial, const space::Config& config) {
  const judge::Decision& decision = trial.decision;
  const std::optional<double> value = told_value(trial);
  if (decision.reason == Reason::duplicate) {
    ++m_summary.duplicates;
  } else if (decision.reason != Reason::infra) {
    ++m_summary.evaluations;
    if (!decision.valid) ++m_summary.failures;
    TS_TRY(account_rollback(trial));
  }
  if (decision.keep) {
    ++m_summary.kept;
    m_incumbent = &trial;
    m_standing.incumbent_objective = decision.objective;
    m_best_log_ratio = trial.evidence.log_ratio_to_baseline;
    m_best_fraction = fraction_of_floor(trial.evidence);
  }
  m_p.strategy.tell({config, value.has_value(), value.value_or(0)});
  return {};
}

/// A candidate never replaces the incumbent before it is kept, so the best state always stands as it was.
/// What the policy counts is how often the search was thrown back to it: the objective may weigh it, people
/// may read it.
Status Session::account_rollback(const Trial& trial) {
  using On = judge::RollbackPolicy::On;
  const judge::RollbackPolicy& policy = m_p.gate.rollback;
  const bool slower = trial.decision.verdict == judge::Verdict::slower;
  const bool bad = policy.on == On::any_failure ? slower || !trial.decision.valid : slower;
  m_bad_in_row = bad ? m_bad_in_row + 1 : 0;
  if (m_bad_in_row < policy.after) return {};
  m_bad_in_row = 0;
  if (policy.on != On::ask) {
    ++m_standing.rollbacks;
    m_summary.rollbacks = static_cast<std::uint64_t>(m_standing.rollbacks);
  }
  if (m_rollbacks_recorded.contains(trial.id)) return {};
  return m_p.journal.event("rollback",
                           {{"trial", trial.id},
                            {"to", m_incumbent == nullptr ? 0 : m_incumbent->id},
                            {"policy", policy.on == On::ask           ? "ask"
                                       : policy.on == On::any_failure ? "any_failure"
                                                                      : "regressions"}},
                           spent());
}

}  // namespace tunesmith::tune
