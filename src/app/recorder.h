// Records a space: every configuration is built, checked and timed against the case's baseline, which stays
// the incumbent all the time. The file grows by one line an evaluation, so that a recording that was stopped
// or killed goes on where it stood.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "bench/bench.h"
#include "recording/own.h"

namespace tunesmith::app {

struct RecordPlan {
  const Case* c = nullptr;
  space::Space part;                   ///< of the case's space: what is to be recorded
  std::optional<std::uint64_t> limit;  ///< a sample of so many configurations; nullopt: all
  std::string out;                     ///< a name that ends with .gz is packed at the end
  const std::atomic<bool>* stop = nullptr;
};

struct RecordProgress {
  std::uint64_t done = 0, total = 0, failures = 0, before = 0;  ///< `before`: by earlier sessions
  double seconds = 0;
  double best_ratio = 1;  ///< time over the baseline's
};

struct RecordEnd {
  RecordProgress progress;
  bool complete = false;
  std::uint64_t left_out = 0;  ///< the bench could not judge them; the same command tries them again
  double baseline_ms = 0;
};

/// The part of a case's space that values, constraints and one more expression leave. `subspace` is a JSON
/// file, or JSON text: {"TILE": [4, 8]} or {"parameters": {…}, "constraints": […]}; "" for none.
[[nodiscard]] Result<space::Space> part_of(const Case& c, const std::string& subspace,
                                           const std::string& where);

/// What a candidate's evidence says, as a record: the time is the baseline's own times the paired ratio, so
/// that no drift of the machine between two evaluations gets into it.
[[nodiscard]] recording::Entry entry_from(const bench::Built& built, const Evidence& evidence,
                                          double baseline_ms);

[[nodiscard]] Result<RecordEnd> record_space(const RecordPlan& plan, bench::Bench& bench,
                                             const std::function<void(const RecordProgress&)>& progress);

}  // namespace tunesmith::app
