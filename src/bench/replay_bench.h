// The replay backend: what was measured once is what a candidate gets. Nothing is built and nothing runs;
// failures are the recorded ones, repeats are drawn from the recorded ones where there are any, and the
// recorded cost of each evaluation can be charged to a simulated clock.
#pragma once

#include <atomic>

#include "base/clock.h"
#include "bench/bench.h"

namespace tunesmith::bench {

[[nodiscard]] Result<std::unique_ptr<Bench>> make_replay_bench(const Case& c, const BenchOptions& options);

/// Time that passes only as recorded evaluations are replayed: compiling, verifying and benchmarking.
class SimulatedClock : public Clock {
 public:
  [[nodiscard]] std::int64_t now_ns() const override { return m_charged_ns; }
  [[nodiscard]] std::atomic<std::int64_t>* charged_ns() { return &m_charged_ns; }

 private:
  std::atomic<std::int64_t> m_charged_ns = 0;
};

class ReplayBench : public Bench {
 public:
  ReplayBench(const Case& c, const BenchOptions& options);
  Result<Opening> open() override;
  /// A patch cannot be replayed: an error.
  Result<std::string> identity(const Candidate& candidate) override;
  std::vector<Built> build(std::span<const Candidate> candidates) override;
  Evidence measure(const Candidate& candidate, const Built& built) override;
  Status set_incumbent(const Candidate* candidate, const Built* built, double log_ratio_to_baseline) override;
  Evidence confirm(const Candidate& candidate) override;

 private:
  using Entry = recording::Entry;
  [[nodiscard]] Evidence blank() const;
  /// `incumbent` nullptr: the nominal baseline of a recording in which everything failed.
  [[nodiscard]] Evidence race(const Entry& entry, const Entry* incumbent, std::size_t pairs,
                              std::string_view purpose) const;
  void time_by_repeats(TimingEvidence& timing, const Entry& entry, const Entry& incumbent, std::size_t pairs,
                       std::string_view purpose) const;
  [[nodiscard]] double cost(const Entry* entry) const;
  void charge(double ms) const;

  const Case& m_case;
  const recording::Recording& m_recording;
  BenchOptions m_options;
  std::string m_key;  ///< of every identity: which recording
  const Entry* m_baseline = nullptr;
  const Entry* m_incumbent = nullptr;
  double m_incumbent_log_ratio = 0;
};

}  // namespace tunesmith::bench
