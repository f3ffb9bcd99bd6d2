#include "bench/race.h"

#include <fmt/format.h>

#include <cmath>
#include <thread>

#include "base/clock.h"
#include "bench/set_comparison.h"
#include "stats/descriptive.h"

namespace tunesmith::bench {

namespace {

// Inputs up to this size are read once by the examiner, on the same core, before a warm sample: the kernel
// finds them as a caller that has just produced them would leave them. Larger ones do not stay in a private
// cache anyway.
constexpr std::uint64_t k_warm_bytes = 4ULL << 20;
constexpr int k_most_calls = 256;
// New content at every old address, this often in quadruples: mapping pages anew is dear on some hypervisors.
constexpr std::size_t k_rotate_every = 24;

// A candidate this much slower is dropped at once: the costliest mistake would be to keep measuring it.
const double k_hopeless_first = std::log(3.0);
const double k_hopeless_third = std::log(1.35);
constexpr std::size_t k_futile_pairs = 18;

double median_of(const std::vector<double>& values) { return values.empty() ? 0 : stats::median(values); }

}  // namespace

Race::Race(const Case& c, InputPool& pool, std::size_t shape, Session& candidate, Session& incumbent,
           const CompareRules& rules, const RaceOptions& options, const Defences& defences)
    : m_case(c), m_pool(pool), m_shape(shape), m_rules(rules), m_options(options), m_defences(defences) {
  m_candidate.session = &candidate;
  m_incumbent.session = &incumbent;
  if (options.cold) m_flush.assign(options.flush_bytes, 1);
  for (const auto& argument : pool.shapes()[shape].layout.arguments)
    m_restored = m_restored || (argument.is_buffer && argument.role == Role::inout);
}

void Race::warm_inputs(std::size_t set) {
  const ShapeInputs& inputs = m_pool.shapes()[m_shape];
  if (inputs.layout.input_pages * k_page_bytes > k_warm_bytes) return;
  unsigned sum = 0;
  for (std::size_t a = 0; a < inputs.layout.arguments.size(); ++a) {
    const auto& argument = inputs.layout.arguments[a];
    if (!argument.read_only()) continue;
    const std::byte* from = m_pool.input(m_shape, set, a);
    for (std::uint64_t i = 0; i < argument.bytes; i += k_alignment) sum += static_cast<unsigned>(from[i]);
  }
  // The sum must look used, or the loop is gone.
  __asm__ volatile("" : : "r"(sum) : "memory");
}

void Race::flush_caches() {
  for (std::size_t i = 0; i < m_flush.size(); i += k_alignment)
    m_flush[i] = static_cast<char>(m_flush[i] + 1);
  __asm__ volatile("" : : "r"(m_flush.data()) : "memory");
}

std::size_t Race::set_of(std::size_t set, std::size_t call) const {
  return m_defences.fresh_inputs ? (set + call) % m_pool.shapes()[m_shape].sets.size() : 0;
}

// A set has its slot, so that its pages are mapped once; the whole assignment moves on by one now and then.
std::size_t Race::slot_of(std::size_t set, std::size_t call) const {
  return (set_of(set, 0) + call + m_rotation) % m_candidate.session->slots(m_shape);
}

tl::expected<std::size_t, Rejection> Race::make_ready(Session& session, std::size_t set, std::size_t used) {
  for (std::size_t i = 0; i < used; ++i) {
    if (auto rejection = session.prepare(m_shape, slot_of(set, i), set_of(set, i)))
      return tl::unexpected(*rejection);
    if (!m_options.cold) warm_inputs(set_of(set, i));
  }
  if (m_options.cold) flush_caches();
  return slot_of(set, 0);
}

std::optional<Rejection> Race::sample(Side& side, std::size_t set, double& cpu_ms, double& wall_ms,
                                      CheckEvidence* check) {
  Session& session = *side.session;
  // All calls of a sample share one place: what stands in its output from the call before is spoilt in
  // between (see worker.cpp). Only a buffer that must be restored before each call needs a place for each.
  const std::size_t used = m_restored ? static_cast<std::size_t>(m_calls) : 1;
  const auto first = make_ready(session, set, used);
  if (!first) return first.error();
  const auto times = session.call(m_shape, *first, m_calls, used);
  if (!times) return times.error();
  cpu_ms = times->cpu_ms;
  wall_ms = times->wall_ms;
  side.cpu_ms.push_back(times->cpu_ms);
  side.wall_ms.push_back(times->wall_ms);
  side.hidden_ms.push_back(times->wall_ms - times->cpu_ms - times->waited_ms);
  side.idle_ms.push_back(times->idle_cpu_ms);
  if (check == nullptr || !m_defences.check_timed_calls || !m_defences.check_results) return std::nullopt;
  for (std::size_t i = 0; i < used; ++i) {
    ++check->planned;
    const std::uint64_t hash = session.output_hash(m_shape, slot_of(set, i));
    const auto known = side.verified.find(set_of(set, i));
    if (known != side.verified.end() && known->second == hash) {
      ++check->executed;
      continue;
    }
    CheckEvidence compared;
    if (auto rejection = session.check(m_shape, slot_of(set, i), set_of(set, i), m_rules, compared)) {
      rejection->detail += " (in a timed call)";
      check->bad_elements += compared.bad_elements;
      return rejection;
    }
    ++check->executed;
    check->max_abs_error = std::max(check->max_abs_error, compared.max_abs_error);
    check->max_rel_error = std::max(check->max_rel_error, compared.max_rel_error);
    if (known != side.verified.end() && m_defences.determinism && m_case.limits.threads == 1) {
      return Rejection{Reason::nondeterministic, "the same inputs gave different bits (in a timed call)"};
    }
    side.verified[set_of(set, i)] = hash;
  }
  return std::nullopt;
}

std::optional<Rejection> Race::time_incumbent() {
  double cpu = 0, wall = 0;
  // The first call in a process pays for page faults and cold code; the second tells the time.
  for (int i = 0; i < 2; ++i) {
    if (auto rejection = sample(m_incumbent, 0, cpu, wall, nullptr))
      return Rejection{Reason::infra, "incumbent: " + rejection->detail};
  }
  m_call_ms = std::max(cpu, 1e-4);
  return std::nullopt;
}

void Race::choose_calls(double sample_ms) {
  const auto most = m_restored || m_options.cold ? m_incumbent.session->output_places(m_shape)
                                                 : static_cast<std::size_t>(k_most_calls);
  m_calls = static_cast<int>(
      std::clamp(std::ceil(sample_ms / m_call_ms), 1.0, static_cast<double>(m_options.cold ? 1 : most)));
}

RaceEnd Race::run(TimingEvidence& timing, CheckEvidence& check) {
  RaceEnd end;
  if (auto rejection = time_incumbent()) {
    end.incumbent = rejection;
    return end;
  }
  choose_calls(m_options.give_up_early ? m_options.first_sample_ms : m_options.sample_ms);
  double cpu = 0, wall = 0;
  if (auto rejection = sample(m_candidate, 0, cpu, wall, &check)) {  // warm-up, checked, not timed
    end.candidate = rejection;
    return end;
  }
  for (Side* side : {&m_candidate, &m_incumbent}) {
    side->cpu_ms.clear();
    side->wall_ms.clear();
    side->hidden_ms.clear();
    side->idle_ms.clear();
  }

  const std::size_t sets = m_pool.shapes()[m_shape].sets.size();
  const bool wall_decides = m_case.limits.threads > 1;
  timing.clock = wall_decides ? "wall" : "cpu";
  timing.mode = m_options.cold ? "cold" : "warm";
  timing.calls_per_sample = m_calls;
  timing.floor_ms = m_options.floor_ms;
  const std::vector<std::size_t> looks = stats::look_schedule(m_options.paired);
  std::size_t next_look = 0;
  std::vector<double> ratios;
  stats::PairedResult result;
  const std::int64_t started_ns = monotonic_ns();
  CheckEvidence incumbent_check;
  std::size_t set = 1;
  for (std::size_t quad = 0; quad < m_options.paired.maximum_pairs; ++quad) {
    PairSample pair;
    const bool small = m_pool.shapes()[m_shape].layout.input_pages * k_page_bytes <= k_warm_bytes;
    if (quad % k_rotate_every == k_rotate_every - 1 && small) ++m_rotation;
    const bool candidate_first = quad % 2 == 0;
    for (int half = 0; half < 2; ++half) {
      // A B then B A (next quadruple: B A then A B); both sides of a half work on the same inputs.
      const std::size_t here = set % sets;
      set += m_restored ? static_cast<std::size_t>(m_calls) : 1;
      double candidate_cpu = 0, candidate_wall = 0, incumbent_cpu = 0, incumbent_wall = 0;
      for (int turn = 0; turn < 2; ++turn) {
        const bool candidate_turn = ((half + turn) % 2 == 0) == candidate_first;
        if (candidate_turn) {
          if (auto rejection = sample(m_candidate, here, candidate_cpu, candidate_wall, &check)) {
            end.candidate = rejection;
            return end;
          }
        } else if (auto rejection =
                       sample(m_incumbent, here, incumbent_cpu, incumbent_wall,
                              m_options.check_incumbent && quad % 4 == 0 ? &incumbent_check : nullptr)) {
          end.incumbent = rejection;
          return end;
        }
      }
      pair.candidate_cpu_ms += candidate_cpu / 2;
      pair.candidate_wall_ms += candidate_wall / 2;
      pair.incumbent_cpu_ms += incumbent_cpu / 2;
      pair.incumbent_wall_ms += incumbent_wall / 2;
    }
    timing.samples.push_back(pair);
    ratios.push_back(std::log(std::max(wall_decides ? pair.candidate_wall_ms : pair.candidate_cpu_ms, 1e-9) /
                              std::max(wall_decides ? pair.incumbent_wall_ms : pair.incumbent_cpu_ms, 1e-9)));
    if (m_options.give_up_early) {
      const double least = *std::min_element(ratios.begin(), ratios.end());
      if ((ratios.size() == 1 && least > k_hopeless_first) ||
          (ratios.size() == 3 && least > k_hopeless_third)) {
        result.verdict = stats::PairedVerdict::slower;
        result.median = stats::median(ratios);
        result.low = least;
        result.high = *std::max_element(ratios.begin(), ratios.end());
        break;
      }
      if (ratios.size() == 3) {
        choose_calls(m_options.sample_ms);
        timing.calls_per_sample = m_calls;
      }
    }
    if (m_options.spread_seconds > 0) {
      const double share =
          static_cast<double>(quad + 1) / static_cast<double>(m_options.paired.maximum_pairs);
      const double ahead =
          share * m_options.spread_seconds - static_cast<double>(monotonic_ns() - started_ns) * 1e-9;
      if (ahead > 0.001) std::this_thread::sleep_for(std::chrono::duration<double>(std::min(ahead, 0.2)));
    }
    if (next_look < looks.size() && ratios.size() == looks[next_look]) {
      ++next_look;
      result = stats::look(ratios, m_options.paired);
      if (result.decided) break;
      // No better than the incumbent so far: the rest of the samples would only tell SAME from AMBIGUOUS, and
      // neither is kept.
      if (m_options.give_up_early && ratios.size() >= k_futile_pairs &&
          result.median > -m_options.paired.minimum_effect / 2)
        break;
    }
  }

  timing.pairs = static_cast<int>(ratios.size());
  timing.latency_ms = median_of(m_candidate.wall_ms);
  timing.cpu_ms = median_of(m_candidate.cpu_ms);
  timing.incumbent_latency_ms = median_of(m_incumbent.wall_ms);
  timing.incumbent_cpu_ms = median_of(m_incumbent.cpu_ms);
  set_comparison(timing, result);
  timing.idle_cpu_ms = median_of(m_candidate.idle_ms);
  end.candidate = fraud(timing);
  if (!end.candidate) end.candidate = remembered(timing, check);
  return end;
}

std::optional<Rejection> Race::fraud(const TimingEvidence& timing) const {
  const double time = timing.clock == "wall" ? timing.latency_ms : timing.cpu_ms;
  if (m_defences.speed_of_light) {
    if (!(time > 0) || !std::isfinite(time)) {
      return Rejection{Reason::impossible_time, fmt::format("a time of {} ms is no time", time)};
    }
    if (m_options.floor_ms > 0 && time < m_options.floor_ms) {
      return Rejection{
          Reason::impossible_time,
          fmt::format("{:.4g} ms is faster than this machine can be ({:.4g} ms)", time, m_options.floor_ms)};
    }
  }
  // A few microseconds of scheduler noise are no fraud; a twentieth of the call is.
  const double call_ms = timing.cpu_ms * m_calls;
  if (m_defences.idle_check && timing.idle_cpu_ms > 0.05 + 0.02 * call_ms) {
    return Rejection{Reason::clocks_disagree,
                     fmt::format("used {:.3f} ms of CPU between calls", timing.idle_cpu_ms)};
  }
  if (m_defences.clocks_agree) {
    const double hidden = median_of(m_candidate.hidden_ms);
    if (m_case.limits.threads == 1 && timing.cpu_ms > 1.1 * timing.latency_ms + 0.05) {
      return Rejection{Reason::clocks_disagree,
                       fmt::format("{:.3f} ms of CPU in {:.3f} ms of wall time with one declared thread",
                                   timing.cpu_ms, timing.latency_ms)};
    }
    if (m_case.limits.threads == 1 && hidden > 0.25 * timing.latency_ms + 0.1) {
      return Rejection{
          Reason::clocks_disagree,
          fmt::format("{:.3f} ms of each call passed without using the CPU or waiting for it", hidden)};
    }
    if (m_case.limits.threads > 1 && timing.cpu_ms > 1.1 * m_case.limits.threads * timing.latency_ms + 0.05) {
      return Rejection{Reason::clocks_disagree,
                       fmt::format("{:.3f} ms of CPU in {:.3f} ms of wall time with {} declared threads",
                                   timing.cpu_ms, timing.latency_ms, m_case.limits.threads)};
    }
  }
  return std::nullopt;
}

}  // namespace tunesmith::bench
