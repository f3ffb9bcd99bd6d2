// One process's work on a run: the state that is rebuilt from the journal on resume and carried forward live.
// Replayed and live trials go through the same accounting, so that a resumed run cannot decide otherwise.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tune/guard.h"
#include "tune/loop.h"

namespace tunesmith::tune {

struct Parts {
  const Case& c;
  bench::Bench& bench;
  search::Strategy& strategy;
  Journal& journal;
  const judge::Gate& gate;
  const judge::Objective& objective;
  const LoopOptions& options;
  const Clock& clock;
  const std::function<void(const Progress&)>& progress;
};

class Session {
 public:
  explicit Session(const Parts& parts);
  [[nodiscard]] Result<Summary> run();

 private:
  struct Item {
    Candidate candidate;
    Trial* trial = nullptr;
    std::optional<bench::Built> built;
  };
  /// Why the search is over; nullopt: go on.
  using Stop = std::optional<Summary::End>;

  // session.cpp: the frame
  [[nodiscard]] Status load();
  [[nodiscard]] Status ensure_open();
  [[nodiscard]] Status restore_incumbent();
  [[nodiscard]] Result<Stop> search();
  [[nodiscard]] Result<Stop> run_batch(std::int64_t batch);
  [[nodiscard]] Result<std::vector<Item>> propose(std::int64_t batch, std::size_t count);
  [[nodiscard]] Stop limit_reached() const;
  [[nodiscard]] Stop enough();  ///< after a whole batch
  [[nodiscard]] std::size_t batch_size(std::int64_t batch) const;
  void report(const char* stage, const Trial* last);
  [[nodiscard]] double spent() const;
  [[nodiscard]] bool stopped() const { return m_p.options.stop != nullptr && m_p.options.stop->load(); }

  // evaluate.cpp: one trial
  [[nodiscard]] Status build(std::int64_t batch, std::vector<Item>& items);
  [[nodiscard]] Result<bool> evaluate(Item& item, bool cautious);  ///< false: interrupted, not ended
  [[nodiscard]] Result<std::optional<Evidence>> measure(Item& item, bool cautious);
  [[nodiscard]] std::optional<judge::Decision> settled_without_work(const Item& item,
                                                                    Evidence& evidence) const;
  [[nodiscard]] bool needs_work(const Item& item) const;
  [[nodiscard]] std::string kill_verdict(const Trial& trial) const;  ///< "" when it may run
  [[nodiscard]] bool was_killed_by_machine(const Trial& trial) const;
  [[nodiscard]] Status end(Item& item, const Evidence& evidence, const judge::Decision& decision);
  [[nodiscard]] Status account(const Trial& trial, const space::Config& config);
  [[nodiscard]] Status account_rollback(const Trial& trial);
  [[nodiscard]] std::optional<double> told_value(const Trial& trial) const;

  // confirm.cpp: the end
  [[nodiscard]] Status confirm_winner();
  [[nodiscard]] Result<bool> confirm(const Trial& trial);  ///< false: does not hold, or interrupted
  [[nodiscard]] Result<std::optional<Evidence>> confirmation_of(const Trial& trial);
  [[nodiscard]] std::vector<const Trial*> kept_best_first() const;

  Parts m_p;
  Guard m_guard;
  std::deque<Trial> m_trials;                              ///< stable addresses
  std::map<std::int64_t, std::vector<Trial*>> m_recorded;  ///< by batch, as the journal had them at the start
  std::map<std::int64_t, std::size_t> m_asks;
  std::map<std::int64_t, std::string> m_build_boots;  ///< batch -> boot under which it was last built
  std::set<std::int64_t> m_rollbacks_recorded;
  std::map<std::int64_t, std::pair<Evidence, judge::Decision>> m_confirmed;
  std::set<std::string> m_clean_sessions;  ///< they ended by themselves: nobody killed them
  std::map<std::string, std::int64_t> m_first_of_identity;

  bool m_open = false;
  bool m_opening_recorded = false;
  std::string m_baseline_identity;
  double m_baseline_objective = 0;
  judge::Standing m_standing;
  const Trial* m_incumbent = nullptr;
  double m_best_log_ratio = 0;
  double m_best_fraction = 0;
  std::uint64_t m_rounds_without = 0;  ///< batches since the last improvement
  int m_bad_in_row = 0;
  int m_infra_in_row = 0;
  double m_spent_before = 0;
  std::int64_t m_started_ns = 0;
  Summary m_summary;
};

}  // namespace tunesmith::tune
