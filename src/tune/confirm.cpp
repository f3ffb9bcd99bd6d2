#include "tune/session.h"

namespace tunesmith::tune {

std::vector<const Trial*> Session::kept_best_first() const {
  std::vector<const Trial*> kept;
  for (const Trial& trial : m_trials) {
    if (trial.ended && trial.decision.keep && told_value(trial)) kept.push_back(&trial);
  }
  std::stable_sort(kept.begin(), kept.end(),
                   [&](const Trial* a, const Trial* b) { return *told_value(*a) < *told_value(*b); });
  return kept;
}

Result<std::optional<Evidence>> Session::confirmation_of(const Trial& trial) {
  TS_TRY(ensure_open());
  report("confirming", &trial);
  TS_ASSIGN(const Node node,
            Node::parse(print_json_compact(trial.config), m_p.journal.folder() + "/journal.sqlite"));
  TS_ASSIGN(space::Config config, m_p.c.space.from_json(node));
  const Candidate candidate{std::move(config), trial.diff};
  for (int attempt = 0; attempt <= m_p.options.infra_retries; ++attempt) {
    Evidence evidence = m_p.bench.confirm(candidate);
    if (!evidence.infra) return std::optional<Evidence>(std::move(evidence));
    if (stopped()) return std::optional<Evidence>();
    if (attempt == m_p.options.infra_retries) {
      return fail(ErrorCode::infra,
                  fmt::format("trial {} could not be confirmed: {}", trial.id, evidence.rejection_detail),
                  "mend it and resume; nothing is lost");
    }
  }
  return std::optional<Evidence>();
}

Result<bool> Session::confirm(const Trial& trial) {
  auto known = m_confirmed.find(trial.id);
  if (known == m_confirmed.end()) {
    TS_ASSIGN(auto evidence, confirmation_of(trial));
    if (!evidence) return false;
    // The race is against the baseline, so that is the one to beat.
    judge::Standing standing = m_standing;
    standing.incumbent_objective = m_baseline_objective;
    judge::Decision decision = judge::decide(*evidence, m_p.c, m_p.gate, m_p.objective, standing);
    TS_TRY(m_p.journal.event("confirm",
                             {{"trial", trial.id},
                              {"evidence", evidence_to_json(*evidence)},
                              {"decision", decision_to_json(decision)}},
                             spent()));
    known = m_confirmed.emplace(trial.id, std::pair(std::move(*evidence), std::move(decision))).first;
  }
  if (!known->second.second.keep) return false;
  m_summary.winner = trial;
  m_summary.confirmation = known->second.first;
  m_summary.confirmation_decision = known->second.second;
  return true;
}

Status Session::confirm_winner() {
  const std::string why = std::string("the search ended by ") + name_of(m_summary.end);
  const auto kept = kept_best_first();
  for (const Trial* trial : kept) {
    if (stopped()) {
      m_summary.end = Summary::End::interrupted;
      m_summary.winner = *kept.front();
      return {};
    }
    TS_ASSIGN(const bool holds, confirm(*trial));
    if (holds) return {};
    if (stopped() && !m_confirmed.contains(trial->id)) {
      m_summary.end = Summary::End::interrupted;
      m_summary.winner = *kept.front();
      return {};
    }
  }
  m_summary.end = Summary::End::nothing_passed;
  m_summary.end_detail =
      kept.empty() ? why + "; no candidate beat the baseline and met the gate"
                   : fmt::format("{}; none of {} kept candidates held when measured again", why, kept.size());
  return {};
}

}  // namespace tunesmith::tune
