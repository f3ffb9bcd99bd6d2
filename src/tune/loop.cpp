#include "tune/loop.h"

#include "tune/session.h"

namespace tunesmith::tune {

const char* name_of(Summary::End end) {
  switch (end) {
    case Summary::End::evaluations:
      return "evaluations";
    case Summary::End::minutes:
      return "minutes";
    case Summary::End::exhausted:
      return "exhausted";
    case Summary::End::interrupted:
      return "interrupted";
    case Summary::End::halted:
      return "halted";
    case Summary::End::nothing_passed:
      return "nothing_passed";
    case Summary::End::no_improvement:
      return "no_improvement";
    case Summary::End::speed_of_light:
      return "speed_of_light";
  }
  return "exhausted";
}

std::optional<Trial> reported_winner(const Summary& summary) {
  std::optional<Trial> winner = summary.winner;
  if (winner && summary.confirmation) {
    winner->evidence = *summary.confirmation;
    winner->decision = summary.confirmation_decision;
  }
  return winner;
}

Loop::Loop(const Case& c, bench::Bench& bench, search::Strategy& strategy, Journal& journal,
           const judge::Gate& gate, const judge::Objective& objective, LoopOptions options,
           const Clock& clock)
    : m_case(c),
      m_bench(bench),
      m_strategy(strategy),
      m_journal(journal),
      m_gate(gate),
      m_objective(objective),
      m_options(std::move(options)),
      m_clock(clock) {}

void Loop::on_progress(std::function<void(const Progress&)> callback) { m_progress = std::move(callback); }

Result<Summary> Loop::run() {
  Session session(
      {m_case, m_bench, m_strategy, m_journal, m_gate, m_objective, m_options, m_clock, m_progress});
  Result<Summary> result = session.run();
  // A session that ended by itself was killed by nobody; without this line a resume would suspect its last
  // trial.
  json::object stop{{"session", m_journal.session()}};
  if (result) {
    stop["end"] = name_of(result->end);
    stop["detail"] = result->end_detail;
    stop["winner"] = result->winner ? json::value(result->winner->id) : json::value(nullptr);
  } else {
    stop["end"] = "error";
    stop["detail"] = result.error().line();
  }
  const double seconds = result ? result->seconds : m_journal.spent_seconds();
  const Status written =
      m_journal.event(result && result->end == Summary::End::halted ? "halt" : "stop", stop, seconds);
  if (result && !written) return tl::unexpected<Error>(written.error());
  return result;
}

}  // namespace tunesmith::tune
