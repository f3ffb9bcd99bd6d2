#include "search/compare.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <thread>

#include "base/random.h"
#include "stats/descriptive.h"

namespace tunesmith::search {

namespace {

constexpr int k_resamples = 1000;
// A median that is infinite (most seeds found nothing valid) would leave no mean at all; it counts as this.
constexpr double k_worst_ratio = 100;

struct Task {
  std::size_t contestant, space, budget;
  std::uint64_t seed;
};

struct Done {
  std::vector<double> best;
  double ms = 0;
};

/// With two middle values their mean; infinities keep their place.
double middle(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const double low = values[(values.size() - 1) / 2];
  const double high = values[values.size() / 2];
  return low == high ? low : (low + high) / 2;
}

double at_quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(std::lround(q * static_cast<double>(values.size() - 1)))];
}

double geometric(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(std::min(value, k_worst_ratio));
  return std::exp(sum / static_cast<double>(values.size()));
}

/// The lowest cost after `count` evaluations; a space that ended earlier stays where it was.
double after(const Done& done, std::uint64_t count) {
  if (done.best.empty()) return std::numeric_limits<double>::infinity();
  return done.best[std::min<std::size_t>(count, done.best.size()) - 1];
}

double mean_cost(const std::vector<Done>& runs, std::uint64_t count, double worst) {
  double sum = 0;
  for (const Done& done : runs) sum += std::min(after(done, count), worst);
  return sum / static_cast<double>(runs.size());
}

/// 1 where random search cannot fail to find the optimum either.
double score_of(double random, double found, double optimum) {
  return random > optimum ? (random - found) / (random - optimum) : 1;
}

class Tally {
 public:
  Tally(const std::vector<ReplaySpace>& spaces, const ComparePlan& plan,
        std::vector<std::vector<std::vector<Done>>> runs)
      : m_spaces(spaces), m_plan(plan), m_runs(std::move(runs)) {}

  Standing stand(const std::string& name, const Comparison& comparison) {
    Standing standing;
    standing.name = name;
    for (std::size_t s = 0; s < m_spaces.size(); ++s) {
      std::vector<Cell> row;
      for (std::size_t b = 0; b < m_plan.budgets.size(); ++b) row.push_back(cell(s, b, comparison));
      standing.ms_per_ask += row.back().ms_per_ask / static_cast<double>(m_spaces.size());
      standing.cells.push_back(std::move(row));
    }
    for (std::size_t b = 0; b < m_plan.budgets.size(); ++b) {
      std::vector<double> medians;
      double score = 0;
      for (const auto& row : standing.cells) {
        medians.push_back(row[b].median);
        score += row[b].score / static_cast<double>(m_spaces.size());
      }
      standing.summary.push_back(geometric(medians));
      standing.score.push_back(score);
      standing.interval.push_back(interval(standing, b));
    }
    follow(standing);
    return standing;
  }

 private:
  Cell cell(std::size_t s, std::size_t b, const Comparison& comparison) const {
    const ReplaySpace& space = m_spaces[s];
    Cell cell;
    double asks = 0;
    for (const Done& done : m_runs[s][b]) {
      const double ratio = after(done, m_plan.budgets[b]) / space.optimum;
      cell.ratios.push_back(ratio);
      cell.within += ratio <= 1.05 ? 1.0 / static_cast<double>(m_runs[s][b].size()) : 0;
      cell.ms_per_ask += done.ms;
      asks += static_cast<double>(done.best.size());
    }
    cell.ms_per_ask /= std::max(1.0, asks);
    cell.median = middle(cell.ratios);
    cell.low_quartile = at_quantile(cell.ratios, 0.25);
    cell.high_quartile = at_quantile(cell.ratios, 0.75);
    const double mean = mean_cost(m_runs[s][b], m_plan.budgets[b], space.valid.back());
    cell.mean = mean / space.optimum;
    cell.score = score_of(comparison.random[s][b].mean, mean, space.optimum);
    return cell;
  }

  std::array<double, 2> interval(const Standing& standing, std::size_t b) const {
    Rng rng(derive_seed(b, "bootstrap"));
    std::vector<double> summaries;
    std::vector<double> drawn;
    std::vector<double> medians(m_spaces.size());
    for (int i = 0; i < k_resamples; ++i) {
      for (std::size_t s = 0; s < m_spaces.size(); ++s) {
        const std::vector<double>& ratios = standing.cells[s][b].ratios;
        drawn.clear();
        for (std::size_t r = 0; r < ratios.size(); ++r) drawn.push_back(ratios[rng.below(ratios.size())]);
        medians[s] = middle(drawn);
      }
      summaries.push_back(geometric(medians));
    }
    return {at_quantile(summaries, 0.025), at_quantile(summaries, 0.975)};
  }

  /// Over every count of the largest budget's runs.
  void follow(Standing& standing) const {
    const std::uint64_t most = m_plan.budgets.back();
    double sum = 0;
    for (std::uint64_t count = 1; count <= most; ++count) {
      std::vector<double> medians;
      for (std::size_t s = 0; s < m_spaces.size(); ++s) {
        std::vector<double> ratios;
        for (const Done& done : m_runs[s].back()) ratios.push_back(after(done, count) / m_spaces[s].optimum);
        medians.push_back(middle(ratios));
        const double mean = mean_cost(m_runs[s].back(), count, m_spaces[s].valid.back());
        sum += score_of(random_search(m_spaces[s], count).mean, mean, m_spaces[s].optimum);
      }
      standing.curve.push_back(geometric(medians));
    }
    standing.curve_score = sum / static_cast<double>(most * m_spaces.size());
  }

  const std::vector<ReplaySpace>& m_spaces;
  const ComparePlan& m_plan;
  std::vector<std::vector<std::vector<Done>>> m_runs;  ///< [space][budget][seed]
};

}  // namespace

Comparison compare(const std::vector<ReplaySpace>& spaces, const std::vector<Contestant>& contestants,
                   const ComparePlan& plan,
                   const std::function<void(std::size_t done, std::size_t all)>& progress) {
  Comparison comparison;
  for (const ReplaySpace& space : spaces) {
    std::vector<RandomSearch> row;
    for (const std::uint64_t budget : plan.budgets) row.push_back(random_search(space, budget));
    comparison.random.push_back(std::move(row));
  }
  const auto random_at = [&](std::uint64_t count) {
    std::vector<double> medians;
    for (const ReplaySpace& space : spaces)
      medians.push_back(random_search(space, count).median / space.optimum);
    return geometric(medians);
  };
  for (const std::uint64_t budget : plan.budgets) comparison.random_summary.push_back(random_at(budget));
  for (std::uint64_t count = 1; count <= plan.budgets.back(); ++count)
    comparison.random_curve.push_back(random_at(count));

  std::vector<Task> tasks;
  for (std::size_t c = 0; c < contestants.size(); ++c)
    for (std::size_t s = 0; s < spaces.size(); ++s)
      for (std::size_t b = 0; b < plan.budgets.size(); ++b)
        for (std::uint64_t seed = 1; seed <= plan.seeds; ++seed) tasks.push_back({c, s, b, seed});
  std::vector<std::vector<std::vector<std::vector<Done>>>> runs(
      contestants.size(),
      std::vector<std::vector<std::vector<Done>>>(
          spaces.size(), std::vector<std::vector<Done>>(plan.budgets.size(), std::vector<Done>(plan.seeds))));
  std::atomic<std::size_t> next = 0;
  std::size_t done = 0;
  std::mutex mutex;
  const auto work = [&] {
    const Prior none;
    for (std::size_t t = next++; t < tasks.size(); t = next++) {
      const Task& task = tasks[t];
      const ReplaySpace& space = spaces[task.space];
      const std::uint64_t budget = plan.budgets[task.budget];
      const Prior& prior = plan.priors.empty() ? none : plan.priors[task.space];
      const auto strategy = contestants[task.contestant].make(space.space, task.seed, {budget}, prior);
      ReplayRun run = replay(space, *strategy, budget);
      runs[task.contestant][task.space][task.budget][task.seed - 1] = {std::move(run.best), run.cpu_ms};
      if (!progress) continue;
      const std::lock_guard lock(mutex);
      progress(++done, tasks.size());
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < plan.threads; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  for (std::size_t c = 0; c < contestants.size(); ++c)
    comparison.standings.push_back(
        Tally(spaces, plan, std::move(runs[c])).stand(contestants[c].name, comparison));
  return comparison;
}

}  // namespace tunesmith::search
