// The journal of one run: runs/<run>/journal.sqlite (WAL, synchronous commits) plus logs/ and result files.
// Append-only: what happened is never rewritten. Every trial is written before it starts and when it ends, so
// that resume re-runs exactly what started and never ended, and replays the rest.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "case/candidate.h"
#include "case/evidence.h"
#include "judge/judge.h"

namespace tunesmith::tune {

/// Written once at the start; a later difference in any hash halts the run by name.
struct RunHeader {
  std::string run;  ///< name of its folder
  std::string case_name, case_file, case_sha256;
  std::string gate_sha256, objective_sha256;
  std::string strategy;
  std::uint64_t seed = 0;
  std::uint64_t input_seed =
      0;  ///< secret of the run's inputs: in the journal (0600), never in a result while it runs
  std::uint64_t evaluations = 0;  ///< budget; 0 = by minutes
  double minutes = 0;
  std::uint64_t batch =
      0;  ///< proposals asked for at once: part of what makes a resume repeat the same decisions
  std::string toolchain, machine, version, started_utc;
  json::object extra;    ///< case text, gate and objective as JSON, notes
  std::string seal_key;  ///< drawn by create(); secret like input_seed, seals this run's results
};

/// An evaluation that was begun and, unless its trial ended, broken off.
struct Start {
  std::string utc;
  std::string boot;     ///< of the machine: another one now means that the machine went down
  std::string session;  ///< of the process that began it
};

struct Trial {
  std::int64_t id = 0;  ///< 1, 2, …; 0 is the baseline
  std::int64_t batch = 0;
  json::object config;
  std::string diff;
  std::string identity;
  std::vector<Start> starts;  ///< times its evaluation was begun
  bool ended = false;
  Evidence evidence;         ///< when ended
  judge::Decision decision;  ///< when ended
  std::string started_utc, ended_utc;
};

/// One process at a time: the folder is locked while a journal is open for writing.
class Journal {
 public:
  [[nodiscard]] static Result<Journal> create(const std::string& run_folder, const RunHeader& header);
  [[nodiscard]] static Result<Journal> resume(const std::string& run_folder);  ///< takes the lock
  [[nodiscard]] static Result<Journal> read_only(
      const std::string& run_folder);  ///< while another process writes, too
  Journal(Journal&&) noexcept;
  Journal& operator=(Journal&&) noexcept;
  ~Journal();

  [[nodiscard]] const RunHeader& header() const;
  [[nodiscard]] const std::string& folder() const;
  [[nodiscard]] std::vector<Trial> trials() const;  ///< in order, as they stand on disk
  [[nodiscard]] Result<std::int64_t> propose(std::int64_t batch, const json::object& config,
                                             const std::string& diff, const std::string& identity);
  /// Committed to disk before anything risky happens. `spent_seconds` is the run's time so far, over all its
  /// sessions.
  [[nodiscard]] Status start(std::int64_t id, double spent_seconds = 0);
  [[nodiscard]] Status end(std::int64_t id, const Evidence& evidence, const judge::Decision& decision,
                           double spent_seconds = 0);
  /// kinds: opening, ask, build, rollback, confirm, stop, halt
  [[nodiscard]] Status event(const std::string& kind, const json::object& detail, double spent_seconds = 0);
  [[nodiscard]] std::vector<std::pair<std::string, json::object>> events() const;
  [[nodiscard]] double spent_seconds() const;        ///< latest figure on disk
  [[nodiscard]] const std::string& boot() const;     ///< of this machine, now
  [[nodiscard]] const std::string& session() const;  ///< of this process's work on the run
  /// Seam for tests: as if the machine had been started anew.
  void set_boot(std::string boot);

 private:
  struct Impl;
  explicit Journal(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> m_impl;
};

/// True while a process holds the run's lock.
[[nodiscard]] bool run_in_use(const std::string& run_folder);

[[nodiscard]] json::object decision_to_json(const judge::Decision& decision);
[[nodiscard]] Result<judge::Decision> decision_from_json(const Node& node);

}  // namespace tunesmith::tune
