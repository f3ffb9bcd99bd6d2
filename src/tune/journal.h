// The journal of one run: runs/<run>/journal.sqlite (WAL, synchronous commits) plus logs/ and result files.
// Append-only: what happened is never rewritten. Every trial is written before it starts and when it ends, so that
// resume re-runs exactly what started and never ended, and replays the rest.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "case/candidate.h"
#include "case/evidence.h"
#include "judge/judge.h"

namespace tunesmith::tune {

/// Written once at the start; a later difference in any hash halts the run by name.
struct RunHeader {
  std::string run;               ///< name of its folder
  std::string case_name, case_file, case_sha256;
  std::string gate_sha256, objective_sha256;
  std::string strategy;
  std::uint64_t seed = 0;
  std::uint64_t input_seed = 0;  ///< secret of the run's inputs: in the journal (0600), never in a result while it runs
  std::uint64_t evaluations = 0; ///< budget; 0 = by minutes
  double minutes = 0;
  std::uint64_t batch = 0;       ///< proposals asked for at once: part of what makes a resume repeat the same decisions
  std::string toolchain, machine, version, started_utc;
  json::object extra;            ///< case text, gate and objective as JSON, notes
};

struct Trial {
  std::int64_t id = 0;           ///< 1, 2, …; 0 is the baseline
  std::int64_t batch = 0;
  json::object config;
  std::string diff;
  std::string identity;
  int starts = 0;                ///< times its evaluation was begun
  bool ended = false;
  Evidence evidence;             ///< when ended
  judge::Decision decision;      ///< when ended
  std::string started_utc, ended_utc;
};

/// One process at a time: the folder is locked while a journal is open for writing.
class Journal {
 public:
  [[nodiscard]] static Result<Journal> create(const std::string& run_folder, const RunHeader& header);
  [[nodiscard]] static Result<Journal> resume(const std::string& run_folder);      ///< takes the lock
  [[nodiscard]] static Result<Journal> read_only(const std::string& run_folder);   ///< while another process writes, too
  Journal(Journal&&) noexcept;
  Journal& operator=(Journal&&) noexcept;
  ~Journal();

  [[nodiscard]] const RunHeader& header() const;
  [[nodiscard]] const std::string& folder() const;
  [[nodiscard]] std::vector<Trial> trials() const;             ///< in order, as they stand on disk
  [[nodiscard]] Result<std::int64_t> propose(std::int64_t batch, const json::object& config, const std::string& diff,
                                             const std::string& identity);
  [[nodiscard]] Status start(std::int64_t id);                 ///< committed to disk before anything risky happens
  [[nodiscard]] Status end(std::int64_t id, const Evidence& evidence, const judge::Decision& decision);
  [[nodiscard]] Status event(const std::string& kind, const json::object& detail);  ///< opening, stop, confirm, halt
  [[nodiscard]] std::vector<std::pair<std::string, json::object>> events() const;

 private:
  struct Impl;
  explicit Journal(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> m_impl;
};

}  // namespace tunesmith::tune
