// The museum of cheats: candidates that claim what they have not earned, and the runs that prove them caught.
// Every entry has four: the cheat is rejected with the right reason; its honest twin is accepted; with the
// one defence switched off the cheat passes (so that the proof is no empty one); the verdict comes again from
// the same seed.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "bench/bench.h"
#include "case/case.h"

namespace tunesmith::app {

/// What shows that the entry's defence, and nothing else, catches it.
enum class Control {
  defence,    ///< the same cheat with the defence switched off is accepted
  candidate,  ///< a sibling that goes where the structural defence does not reach is accepted
  harness,    ///< no candidate: the pitfall itself, acted out beside the guarded way (museum_harness.cpp)
};

struct MuseumEntry {
  std::string id, name, does;
  std::string case_name;    ///< museum/cases/<case_name>.json
  std::string cheat, twin;  ///< values of the parameter VARIANT
  std::string cheat_insert,
      twin_insert;  ///< a line that a diff adds to the editable file; "{museum}" is the folder
  std::vector<std::string> reasons;  ///< codes, one of which must reject it with all defences on
  std::vector<std::string>
      layers;  ///< other defences in front of or behind `defence`, taken away to show that one alone
  std::vector<std::string> alone;  ///< codes with `layers` off and `defence` on; empty: `reasons`
  std::string defence;             ///< field of bench::Defences; "" when structural
  Control control = Control::defence;
  std::string control_says;  ///< for people
  std::string sibling;       ///< Control::candidate: the variant that is accepted
  bool wins = false;         ///< without the defence it is not only accepted but FASTER
  bool primes = false;       ///< a run before counts: its gain comes from another process
};

struct MuseumRun {
  std::string what;  ///< "cheat", "alone", "twin", "control", "again"
  bool ok = false;
  std::string found;  ///< "STALE_OUTPUT: …", "SAME"
};

struct MuseumResult {
  std::vector<MuseumRun> runs;
  [[nodiscard]] bool ok() const;
  [[nodiscard]] std::string text() const;  ///< one line: what went wrong, or the cheat's rejection
};

class Museum {
 public:
  /// `folder` holds museum.json, cases/ and kernels/.
  [[nodiscard]] static Result<Museum> load(const std::string& folder);
  /// Beside the program: ./museum, ../museum or ../share/tunesmith/museum.
  [[nodiscard]] static Result<std::string> find();
  [[nodiscard]] const std::vector<MuseumEntry>& entries() const { return m_entries; }
  /// All runs of an entry. An error is one of the museum or the machine, never a verdict.
  [[nodiscard]] Result<MuseumResult> run(const MuseumEntry& entry, std::uint64_t seed);
  void stop_on(const std::atomic<bool>* stop) { m_stop = stop; }

  struct Outcome {
    Reason reason = Reason::none;  ///< the bench's, or why an accepted one would not be kept
    bool accepted = false;         ///< no rejection fired
    Comparison comparison = Comparison::ambiguous;
    std::string text;
  };
  /// For the harness entries as well.
  struct Hall {
    Case c;
    std::unique_ptr<bench::Bench> bench;
  };
  /// An open bench for a case with some defences off; opened once.
  [[nodiscard]] Result<Hall*> hall(const std::string& case_name, std::uint64_t seed,
                                   const std::vector<std::string>& off);
  [[nodiscard]] Result<Case> read_case(const std::string& case_name) const;
  [[nodiscard]] Result<Candidate> candidate(const Case& c, const std::string& variant,
                                            const std::string& insert) const;
  [[nodiscard]] Result<Outcome> measure(Hall& hall, const Candidate& candidate) const;
  [[nodiscard]] const std::string& folder() const { return m_folder; }
  [[nodiscard]] const std::string& log_folder() const { return m_logs->path(); }

 private:
  Museum() = default;
  std::string m_folder;
  std::vector<MuseumEntry> m_entries;
  std::unique_ptr<TempDir> m_logs;
  std::map<std::string, std::unique_ptr<Hall>> m_halls;
  const std::atomic<bool>* m_stop = nullptr;
};

/// The runs of a harness entry, by its id.
[[nodiscard]] Result<MuseumResult> run_harness(Museum& museum, const MuseumEntry& entry, std::uint64_t seed);

}  // namespace tunesmith::app
