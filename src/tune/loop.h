// The loop: ask, build in parallel, measure alone, judge, journal, tell. Knows no process, no socket, no
// prompt; everything it needs is handed in, so that its tests run with a fake bench and by hand-turned clock.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "bench/bench.h"
#include "judge/judge.h"
#include "search/strategy.h"
#include "tune/journal.h"

namespace tunesmith::tune {

struct LoopOptions {
  std::uint64_t evaluations = 0;  ///< 0 = no limit by count
  double minutes = 0;  ///< 0 = no limit by time; wall time of this session plus what the journal has spent
  /// Stop when this many batches one after the other brought no improvement; 0 = never for that reason.
  std::uint64_t no_improve_rounds = 0;
  /// Stop when the incumbent reaches this share of the machine's speed of light, 0 to 1; 0 = never.
  double enough_of_light = 0;
  std::size_t batch = 4;
  int infra_retries = 2;  ///< per candidate; then INFRA, never charged to the strategy's budget
  int kill_limit = 2;     ///< a candidate during whose evaluation the machine went down this often is skipped
  /// The same for deaths of this program alone: higher, since most of those are a person's kill -9.
  int process_kill_limit = 10;
  bool trust_self_reported = false;
  /// Given with --gate and --objective: read again before every batch, so that a change in mid-run halts it.
  std::string gate_file, objective_file;
  const std::atomic<bool>* stop = nullptr;
};

/// For the live line; called from the loop's thread only.
struct Progress {
  std::uint64_t done = 0, limit = 0;  ///< evaluations
  double seconds = 0, seconds_limit = 0;
  double best_speedup = 1;            ///< over the baseline, paired
  double best_fraction_of_floor = 0;  ///< speed of light / latency; 0 = unknown
  std::uint64_t failures = 0;
  const Trial* last = nullptr;  ///< just ended; null at the start
  const char* stage = "";       ///< "opening", "building", "measuring", "confirming"
};

struct Summary {
  enum class End {
    evaluations,
    minutes,
    exhausted,
    interrupted,
    halted,
    nothing_passed,
    no_improvement,
    speed_of_light
  } end = End::exhausted;
  std::string end_detail;  ///< one line; for `halted` what changed, for the others why it ended
  std::uint64_t evaluations = 0, failures = 0, duplicates = 0, kept = 0, rollbacks = 0;
  /// The best kept trial that its confirmation upheld; after an interruption or a halt the best kept one,
  /// unconfirmed; none when the baseline stands.
  std::optional<Trial> winner;
  std::optional<Evidence> confirmation;  ///< of the winner
  judge::Decision confirmation_decision;
  double seconds = 0;
  bench::Opening opening;
};

[[nodiscard]] const char* name_of(Summary::End end);
/// The winner as it is to be reported: with the figures of its confirmation, where there is one.
[[nodiscard]] std::optional<Trial> reported_winner(const Summary& summary);

class Loop {
 public:
  Loop(const Case& c, bench::Bench& bench, search::Strategy& strategy, Journal& journal,
       const judge::Gate& gate, const judge::Objective& objective, LoopOptions options, const Clock& clock);
  void on_progress(std::function<void(const Progress&)> callback);
  /// Runs to a stop rule. On a resumed journal it first replays what is there: same asks, same tells, nothing
  /// measured twice. Errors are the run's (the case changed since it began, disk full), never a candidate's;
  /// a change in mid-run is no error but the end `halted`, with everything found so far.
  [[nodiscard]] Result<Summary> run();

 private:
  const Case& m_case;
  bench::Bench& m_bench;
  search::Strategy& m_strategy;
  Journal& m_journal;
  const judge::Gate& m_gate;
  const judge::Objective& m_objective;
  LoopOptions m_options;
  const Clock& m_clock;
  std::function<void(const Progress&)> m_progress;
};

}  // namespace tunesmith::tune
