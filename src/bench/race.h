// Candidate against incumbent on one shape: samples in ABBA order on the same core, outputs of every timed
// call checked, sequential stopping by stats/paired.h.
#pragma once

#include <optional>
#include <unordered_map>

#include "bench/session.h"
#include "case/evidence.h"
#include "stats/paired.h"

namespace tunesmith::bench {

struct RaceOptions {
  stats::PairedOptions paired;
  double sample_ms =
      0.4;  ///< a sample lasts at least this long: what a request costs varies by ten microseconds
  double first_sample_ms = 0.15;  ///< the same for the first three pairs, which only tell who is hopeless
  double floor_ms = 0;            ///< speed of light of the shape; 0 = unknown
  bool cold = false;
  std::uint64_t flush_bytes = 0;
  bool give_up_early = true;  ///< stop after one or three pairs when the candidate is hopeless
  bool check_incumbent = true;
  double spread_seconds = 0;  ///< spread the pairs over at least this long (confirmation)
};

/// Who is to blame when a race ends early.
struct RaceEnd {
  std::optional<Rejection> candidate;
  std::optional<Rejection> incumbent;  ///< its fault is infrastructure for the candidate
};

class Race {
 public:
  /// Hashes of verified outputs, per set; shared by the races of one process on one shape.
  using Verified = std::unordered_map<std::size_t, std::uint64_t>;

  Race(const Case& c, InputPool& pool, std::size_t shape, Session& candidate, Session& incumbent,
       const CompareRules& rules, const RaceOptions& options, const Defences& defences);
  /// Fills timing and the counts of `check`.
  [[nodiscard]] RaceEnd run(TimingEvidence& timing, CheckEvidence& check);

 private:
  struct Side {
    Session* session;
    Verified verified;
    std::vector<double> cpu_ms, wall_ms, hidden_ms, idle_ms;
  };
  /// Inputs, poison and caches for the next call of `session`. Returns the first slot.
  [[nodiscard]] tl::expected<std::size_t, Rejection> make_ready(Session& session, std::size_t set,
                                                                std::size_t used);
  [[nodiscard]] std::optional<Rejection> sample(Side& side, std::size_t set, double& cpu_ms, double& wall_ms,
                                                CheckEvidence* check);
  [[nodiscard]] std::optional<Rejection> time_incumbent();
  void choose_calls(double sample_ms);
  [[nodiscard]] std::optional<Rejection> fraud(const TimingEvidence& timing) const;
  /// Whether the candidate's gain is there on inputs that nobody has ever seen (race_fresh.cpp).
  [[nodiscard]] std::optional<Rejection> remembered(const TimingEvidence& timing, CheckEvidence& check);
  [[nodiscard]] std::optional<Rejection> fresh_pair(std::size_t set, CheckEvidence& check, double& log_ratio);
  [[nodiscard]] std::size_t set_of(std::size_t set, std::size_t call) const;
  [[nodiscard]] std::size_t slot_of(std::size_t set, std::size_t call) const;
  void warm_inputs(std::size_t set);
  void flush_caches();

  const Case& m_case;
  InputPool& m_pool;
  std::size_t m_shape;
  Side m_candidate, m_incumbent;
  CompareRules m_rules;
  RaceOptions m_options;
  Defences m_defences;
  bool m_restored = false;  ///< an inout buffer: its content must be put back before each call
  int m_calls = 1;
  double m_call_ms = 0;  ///< of the incumbent, roughly
  std::size_t m_rotation = 0;
  std::vector<char> m_flush;
};

}  // namespace tunesmith::bench
