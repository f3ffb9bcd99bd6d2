// Confirming a winner: built from nothing, fresh processes and inputs, held-out shapes, against the baseline.
#include <fmt/format.h>

#include <cmath>

#include "base/clock.h"
#include "bench/cpu_bench.h"
#include "bench/load.h"
#include "bench/pinning.h"
#include "bench/set_comparison.h"
#include "stats/descriptive.h"

namespace tunesmith::bench {

namespace {

constexpr double k_confirm_seconds = 60;         // at most, over all shapes
constexpr double k_confirm_spread_seconds = 10;  // plateaus of a shared machine last up to tens of seconds
constexpr int k_confirm_blocks = 4;  // fresh processes: the layout of one process is not the kernel's merit

}  // namespace

Evidence CpuBench::confirm(const Candidate& candidate) {
  Evidence evidence;
  evidence.machine = m_machine.cpu_model;
  evidence.load_average = load_average();
  const std::int64_t started_ns = monotonic_ns();
  const auto reject = [&](const Rejection& rejection) {
    evidence.rejection = rejection.reason;
    evidence.rejection_detail = rejection.detail;
    evidence.infra = rejection.infra();
    evidence.wall_ms = static_cast<double>(monotonic_ns() - started_ns) * 1e-6;
    return evidence;
  };
  // Built from nothing once more, twice: what cannot be reproduced is no result.
  const Candidate both[] = {candidate};
  const Built first = build(both).front();
  evidence.build = first.evidence;
  if (first.evidence.outcome != BuildEvidence::Outcome::ok)
    return reject({first.evidence.reason, first.evidence.detail});
  const Built second = build(both).front();
  if (second.evidence.library_sha256 != first.evidence.library_sha256) {
    return reject({Reason::nondeterministic, "two builds of the same source differ"});
  }
  evidence.seed = secret_seed();
  auto pool = make_pool(m_case.shapes, evidence.seed, k_sets_small);
  if (!pool) return reject({Reason::infra, pool.error().line()});
  auto lock = MeasuringLock::take();
  if (!lock) return reject({Reason::infra, lock.error().line()});
  const PinnedThread pinned(m_core);
  const Contender contender{{first.library, first.glue}, false};

  if (!m_case.held_out_shapes.empty()) {
    auto held_out = make_pool(m_case.held_out_shapes, derive_seed(evidence.seed, "held out"), 2);
    if (!held_out) return reject({Reason::infra, held_out.error().line()});
    Started session = start(*held_out, contender);
    if (!session) return reject(session.error());
    std::vector<ShapeEvidence> shapes = blank_shapes(*held_out);
    if (auto rejection = check_all(*held_out, **session, shapes)) {
      rejection->detail = "on a held-out shape: " + rejection->detail;
      return reject(*rejection);
    }
  }

  // As many pairs as a minute allows, in fresh processes on both sides.
  evidence.shapes = blank_shapes(*pool);
  std::vector<ShapeEvidence> totals = evidence.shapes;
  std::size_t pairs = m_options.confirm_pairs;
  for (int block = 0; block < k_confirm_blocks; ++block) {
    Started baseline = start(*pool, m_baseline);
    Started session = start(*pool, contender);
    if (!baseline) return reject({Reason::infra, "the baseline does not start: " + baseline.error().detail});
    if (!session) return reject(session.error());
    evidence.isolation = (*session)->layers().text();
    if (block == 0) {
      if (auto rejection = check_all(*pool, **session, evidence.shapes)) return reject(*rejection);
    }
    HeatOptions options;
    options.minimum_pairs = options.maximum_pairs = std::max<std::size_t>(8, pairs / k_confirm_blocks);
    options.give_up_early = false;
    options.spread_seconds = k_confirm_spread_seconds / k_confirm_blocks;
    const std::int64_t block_ns = monotonic_ns();
    const Heat heat = race(*pool, **session, **baseline, options);
    conclude(evidence, heat);
    if (heat.rejection) return reject(*heat.rejection);
    evidence.peak_memory_bytes = std::max(evidence.peak_memory_bytes, (*session)->memory_bytes());
    for (std::size_t i = 0; i < totals.size(); ++i) {
      const auto& samples = heat.shapes[i].timing.samples;
      totals[i].timing.samples.insert(totals[i].timing.samples.end(), samples.begin(), samples.end());
    }
    const double block_seconds = static_cast<double>(monotonic_ns() - block_ns) * 1e-9;
    if (block_seconds > k_confirm_seconds / k_confirm_blocks) {
      pairs = std::max<std::size_t>(8 * k_confirm_blocks,
                                    static_cast<std::size_t>(static_cast<double>(pairs) * k_confirm_seconds /
                                                             k_confirm_blocks / block_seconds));
    }
  }

  Heat whole;
  whole.shapes = totals;
  for (std::size_t i = 0; i < totals.size(); ++i) {
    TimingEvidence& timing = evidence.shapes[i].timing;
    timing.samples = std::move(totals[i].timing.samples);
    std::vector<double> ratios, mine_wall, mine_cpu, theirs_wall, theirs_cpu;
    for (const PairSample& sample : timing.samples) {
      const bool wall = timing.clock == "wall";
      ratios.push_back(std::log((wall ? sample.candidate_wall_ms : sample.candidate_cpu_ms) /
                                (wall ? sample.incumbent_wall_ms : sample.incumbent_cpu_ms)));
      mine_wall.push_back(sample.candidate_wall_ms);
      mine_cpu.push_back(sample.candidate_cpu_ms);
      theirs_wall.push_back(sample.incumbent_wall_ms);
      theirs_cpu.push_back(sample.incumbent_cpu_ms);
    }
    stats::PairedOptions paired;
    paired.minimum_effect = m_options.minimum_effect;
    paired.minimum_pairs = paired.maximum_pairs = ratios.size();
    const stats::PairedResult result = stats::look(ratios, paired);
    timing.pairs = static_cast<int>(ratios.size());
    set_comparison(timing, result);
    timing.latency_ms = stats::median(mine_wall);
    timing.cpu_ms = stats::median(mine_cpu);
    timing.incumbent_latency_ms = stats::median(theirs_wall);
    timing.incumbent_cpu_ms = stats::median(theirs_cpu);
    whole.shapes[i] = evidence.shapes[i];
  }
  combine(whole);
  evidence.log_ratio = evidence.log_ratio_to_baseline = whole.log_ratio;
  evidence.comparison = whole.comparison;
  evidence.confirmed = true;
  evidence.wall_ms = static_cast<double>(monotonic_ns() - started_ns) * 1e-6;
  return evidence;
}

}  // namespace tunesmith::bench
