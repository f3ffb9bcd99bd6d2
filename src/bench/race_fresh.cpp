// Whether a gain is there on inputs that nobody has ever seen. A race uses its few input sets again and
// again, so a candidate may remember results, or packed weights, by their content. Here each set is
// rearranged in place before it is used, so that no content ever comes back: a candidate that was fast
// because it remembered is slow the first time, and fast the second.
#include <fmt/format.h>

#include <cmath>

#include "bench/race.h"
#include "stats/descriptive.h"

namespace tunesmith::bench {

namespace {

constexpr std::size_t k_looks[] = {8, 16, 32};  // rounds after which an honest candidate may leave
constexpr double k_confidence = 0.999;
constexpr double k_least_loss = 0.03;  // of the time: what a first call may cost more than a second
constexpr double k_share_of_gain = 0.25;

}  // namespace

std::optional<Rejection> Race::fresh_pair(std::size_t set, CheckEvidence& check, double& log_ratio) {
  const std::size_t used =
      std::min<std::size_t>(m_candidate.session->output_places(m_shape), static_cast<std::size_t>(m_calls));
  for (std::size_t i = 0; i < used; ++i) m_pool.rearrange(m_shape, set_of(set, i));
  const auto go = [&](Session& session) -> tl::expected<double, Rejection> {
    const auto first = make_ready(session, set, used);
    if (!first) return tl::unexpected(first.error());
    const auto times = session.call(m_shape, *first, static_cast<int>(used), used);
    if (!times) return tl::unexpected(times.error());
    return std::max(m_case.limits.threads > 1 ? times->wall_ms : times->cpu_ms, 1e-9);
  };
  const auto blame = [](const Rejection& rejection) {
    return Rejection{Reason::infra, "incumbent: " + rejection.detail};
  };
  // The incumbent goes first each time: it tells what the results must be, and leaves the caches as the
  // other call will find them.
  double time[2] = {0, 0};
  for (double& ms : time) {
    if (const auto incumbent = go(*m_incumbent.session); !incumbent) return blame(incumbent.error());
    const auto candidate = go(*m_candidate.session);
    if (!candidate) return candidate.error();
    ms = *candidate;
    if (!m_defences.check_results || !m_defences.check_timed_calls) continue;
    for (std::size_t i = 0; i < used; ++i) {
      CheckEvidence compared;
      ++check.planned;
      if (auto rejection = m_candidate.session->check_against(*m_incumbent.session, m_shape, slot_of(set, i),
                                                              m_rules, compared)) {
        rejection->detail += " (inputs made for this call alone, compared with the incumbent)";
        check.bad_elements += compared.bad_elements;
        return rejection;
      }
      ++check.executed;
    }
  }
  log_ratio = std::log(time[0] / time[1]);
  return std::nullopt;
}

std::optional<Rejection> Race::remembered(const TimingEvidence& timing, CheckEvidence& check) {
  if (!m_defences.novelty || !m_defences.fresh_inputs || timing.comparison != Comparison::faster)
    return std::nullopt;
  const double allowed = std::max(k_least_loss, k_share_of_gain * -timing.log_ratio);
  const std::size_t sets = m_pool.shapes()[m_shape].sets.size();
  std::vector<double> losses;
  std::optional<Rejection> rejection;
  std::size_t set = 0;
  for (const std::size_t rounds : k_looks) {
    while (!rejection && losses.size() < rounds) {
      double loss = 0;
      rejection = fresh_pair(set, check, loss);
      losses.push_back(loss);
      set = (set + m_candidate.session->output_places(m_shape)) % sets;
    }
    if (rejection || stats::median(losses) < allowed / 2) break;
    const stats::Interval loss = stats::signed_rank_interval(losses, k_confidence);
    if (losses.size() >= k_looks[1] && loss.low > allowed) {
      rejection =
          Rejection{Reason::stale_output,
                    fmt::format("{:.0f} % slower on inputs that nobody has seen before than on the same "
                                "inputs again: results are remembered",
                                100 * (std::exp(stats::median(losses)) - 1))};
    }
  }
  m_pool.restore(m_shape);
  return rejection;
}

}  // namespace tunesmith::bench
