// Checking and racing one worker: correct on every shape, then candidate against incumbent, shape by shape.
#include <fmt/format.h>

#include <cmath>

#include "bench/cpu_bench.h"

namespace tunesmith::bench {

std::optional<Rejection> CpuBench::check_all(const InputPool& pool, Session& session,
                                             std::vector<ShapeEvidence>& shapes) {
  std::size_t smallest = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (shapes[i].flops < shapes[smallest].flops) smallest = i;
  }
  const CompareRules compare_rules = rules();
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (!m_defences.check_scored_shapes && i != smallest) continue;
    CheckEvidence& check = shapes[i].check;
    int outputs = 0;
    for (const auto& argument : pool.shapes()[i].layout.arguments) outputs += argument.checked() ? 1 : 0;
    const std::size_t sets = pool.shapes()[i].sets.size();
    std::uint64_t first_hash = 0;
    // New content at new addresses, then the first content again in another slot: same bits?
    const std::size_t plan[] = {0, m_defences.fresh_inputs ? std::min<std::size_t>(1, sets - 1) : 0, 0};
    for (std::size_t round = 0; round < 3; ++round) {
      const std::size_t slot = std::min<std::size_t>(round, 1) % session.slots(i);
      const std::size_t set = plan[round];
      check.planned += outputs;
      if (auto rejection = session.prepare(i, slot, set)) return rejection;
      if (auto times = session.call(i, slot, 1); !times) return times.error();
      if (!m_defences.check_results) {
        check.executed += outputs;
        continue;
      }
      if (auto rejection = session.check(i, slot, set, compare_rules, check)) {
        rejection->detail = fmt::format("shape {}: {}", shapes[i].shape, rejection->detail);
        return rejection;
      }
      const std::uint64_t hash = session.output_hash(i, slot);
      if (round == 0) first_hash = hash;
      if (round == 2 && hash != first_hash && m_defences.determinism && m_case.limits.threads == 1) {
        return Rejection{Reason::nondeterministic,
                         fmt::format("shape {}: the same inputs gave different bits", shapes[i].shape)};
      }
    }
    check.passed = check.executed >= check.planned && check.planned > 0;
    if (!check.passed)
      return Rejection{Reason::missing_evidence,
                       fmt::format("{} of {} comparisons were made", check.executed, check.planned)};
  }
  return std::nullopt;
}

double CpuBench::floor_ms(const ShapeLayout& layout) {
  return speed_of_light_ms(m_machine, m_case.dtype, layout.flops, layout.bytes, m_case.limits.threads);
}

CpuBench::Heat CpuBench::race(InputPool& pool, Session& candidate, Session& incumbent,
                              const HeatOptions& options) {
  Heat heat;
  heat.shapes = blank_shapes(pool);
  for (std::size_t i = 0; i < heat.shapes.size(); ++i) {
    RaceOptions race_options;
    race_options.paired.minimum_effect = m_options.minimum_effect;
    race_options.paired.minimum_pairs = options.minimum_pairs;
    race_options.paired.maximum_pairs = options.maximum_pairs;
    race_options.paired.alpha = options.alpha;
    race_options.floor_ms = m_defences.speed_of_light ? floor_ms(pool.shapes()[i].layout) : 0;
    race_options.cold = m_case.clock == ClockMode::cold;
    race_options.flush_bytes = 2 * std::max<std::uint64_t>(m_machine.llc_bytes, 8U << 20);
    race_options.give_up_early = options.give_up_early;
    race_options.spread_seconds = options.spread_seconds / static_cast<double>(heat.shapes.size());
    Defences defences = m_defences;
    if (!options.check) defences.check_results = false;
    Race one(m_case, pool, i, candidate, incumbent, rules(), race_options, defences);
    RaceEnd end = one.run(heat.shapes[i].timing, heat.shapes[i].check);
    if (end.candidate && end.candidate->reason == Reason::impossible_time && !m_peaks_doubted &&
        race_options.floor_ms > 0) {
      // The machine may have been in a slow phase when its peak was taken: measure it again, once, and judge
      // anew.
      m_peaks_doubted = true;
      if (auto again = machine_facts(true)) m_machine = *again;
      --i;
      heat.shapes[i + 1].timing = {};
      continue;
    }
    if (end.candidate) {
      heat.rejection = Rejection{end.candidate->reason,
                                 fmt::format("shape {}: {}", heat.shapes[i].shape, end.candidate->detail)};
      return heat;
    }
    if (end.incumbent) {
      heat.rejection = Rejection{Reason::infra, fmt::format("the incumbent failed on shape {}: {}",
                                                            heat.shapes[i].shape, end.incumbent->detail)};
      return heat;
    }
    CheckEvidence& check = heat.shapes[i].check;
    check.passed = check.executed >= check.planned;
    // Nothing that the other shapes could show makes up for this.
    if (options.give_up_early && heat.shapes[i].timing.log_ratio > std::log(2.0)) break;
  }
  combine(heat);
  return heat;
}

void CpuBench::combine(Heat& heat) const {
  double weights = 0, sum = 0, variance = 0;
  bool veto = false, all_same = true, measured_all = true;
  for (const ShapeEvidence& shape : heat.shapes) {
    if (shape.timing.pairs == 0) {
      measured_all = false;
      continue;
    }
    weights += shape.weight;
    sum += shape.weight * shape.timing.log_ratio;
    const double half = (shape.timing.log_ratio_high - shape.timing.log_ratio_low) / 2;
    variance += shape.weight * shape.weight * half * half;
    veto = veto || shape.timing.comparison == Comparison::slower;
    all_same = all_same && shape.timing.comparison == Comparison::same;
  }
  if (weights <= 0) return;
  heat.log_ratio = sum / weights;
  const double half = std::sqrt(variance) / weights;
  heat.low = heat.log_ratio - half;
  heat.high = heat.log_ratio + half;
  if (heat.shapes.size() == 1) {
    heat.comparison = heat.shapes[0].timing.comparison;
  } else if (!measured_all || heat.low > 0) {
    heat.comparison = Comparison::slower;
  } else if (heat.high < -m_options.minimum_effect && !veto) {
    heat.comparison = Comparison::faster;
  } else if (all_same || (heat.low > -m_options.minimum_effect && heat.high < m_options.minimum_effect)) {
    heat.comparison = Comparison::same;
  } else {
    heat.comparison = Comparison::ambiguous;
  }
}

void CpuBench::conclude(Evidence& evidence, const Heat& heat) const {
  // Checks made before the race and checks of timed calls belong to the same shape.
  for (std::size_t i = 0; i < heat.shapes.size() && i < evidence.shapes.size(); ++i) {
    CheckEvidence& to = evidence.shapes[i].check;
    const CheckEvidence& from = heat.shapes[i].check;
    to.planned += from.planned;
    to.executed += from.executed;
    to.bad_elements += from.bad_elements;
    to.max_abs_error = std::max(to.max_abs_error, from.max_abs_error);
    to.max_rel_error = std::max(to.max_rel_error, from.max_rel_error);
    to.passed = to.passed && from.executed >= from.planned;
    evidence.shapes[i].timing = heat.shapes[i].timing;
  }
  if (heat.rejection) {
    evidence.rejection = heat.rejection->reason;
    evidence.rejection_detail = heat.rejection->detail;
    evidence.infra = heat.rejection->infra();
  }
  evidence.log_ratio = heat.log_ratio;
  evidence.comparison = heat.comparison;
}

}  // namespace tunesmith::bench
