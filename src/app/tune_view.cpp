#include "app/tune_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/numbers.h"
#include "app/run_view.h"
#include "base/text.h"
#include "case/reason.h"
#include "term/progress.h"

namespace tunesmith::app {

namespace {

constexpr std::int64_t k_plain_every_ns = 10'000'000'000;
constexpr std::size_t k_bar_columns = 28;
constexpr std::size_t k_spark_columns = 40;

/// How far the run is, by whichever limit comes first.
double part_of(const tune::Progress& progress) {
  double part = 0;
  if (progress.limit > 0) part = static_cast<double>(progress.done) / static_cast<double>(progress.limit);
  if (progress.seconds_limit > 0) part = std::max(part, progress.seconds / progress.seconds_limit);
  return std::clamp(part, 0.0, 1.0);
}

std::string left_text(const tune::Progress& progress, double per_minute) {
  double left = -1;
  if (progress.seconds_limit > 0) left = std::max(0.0, progress.seconds_limit - progress.seconds);
  if (progress.limit > 0 && per_minute > 0) {
    const double rest = static_cast<double>(progress.limit - std::min(progress.done, progress.limit));
    const double by_count = rest / per_minute * 60;
    left = left < 0 ? by_count : std::min(left, by_count);
  }
  return left < 0 ? "" : duration_text(std::round(left)) + " left";
}

}  // namespace

TuneView::TuneView(const Context& context, std::string title, json::object base_config, const Clock& clock)
    : m_silent(context.quiet),
      m_err(context.err),
      m_title(std::move(title)),
      m_base(std::move(base_config)),
      m_clock(clock),
      m_started_ns(clock.now_ns()),
      m_last_line_ns(clock.now_ns()) {
  const int fd = fileno(context.err);
  const term::Surroundings around = fd >= 0 ? term::surroundings_of(fd) : term::Surroundings{};
  m_style =
      term::Style(context.color || (around.terminal && term::use_color(term::ColorMode::automatic, around)));
  m_utf8 = around.utf8;
  if (m_silent) return;
  std::FILE* err = m_err;
  m_live = std::make_unique<term::Live>(
      [err](std::string_view text) {
        std::fwrite(text.data(), 1, text.size(), err);
        std::fflush(err);
      },
      around.terminal && term::can_redraw(around), static_cast<std::size_t>(std::max(20, around.columns)),
      clock);
}

std::vector<std::string> TuneView::lines(const tune::Progress& progress, double seconds) const {
  const auto fresh = static_cast<double>(progress.done - std::min(progress.done, m_done_before));
  const double per_minute = seconds > 1 ? fresh / seconds * 60 : 0;
  std::vector<std::string> lines;
  std::string count = fmt::format("{}", progress.done);
  if (progress.limit > 0) count += fmt::format("/{}", progress.limit);
  std::string left = left_text(progress, per_minute);
  lines.push_back(fmt::format("{} {}  {} candidates  {:.0f}/min  {}", m_style.bold(m_title),
                              m_style.cyan(term::bar(part_of(progress), k_bar_columns, m_utf8)), count,
                              per_minute, left));
  std::string best = m_style.bold(m_style.green(times_text(progress.best_speedup)));
  std::string light;
  if (progress.best_fraction_of_floor > 0) {
    light = fmt::format("  {} of the speed of light", percent_text(progress.best_fraction_of_floor));
  }
  lines.push_back(fmt::format("best {} the baseline{}  {}", best, light,
                              m_utf8 ? term::sparkline(m_speedups, k_spark_columns) : ""));
  const std::string stage = *progress.stage != '\0' ? progress.stage : "working";
  lines.push_back(m_style.dim(fmt::format("{}  {} failed{}", stage, progress.failures,
                                          m_last_reason.empty() ? "" : "  last: " + m_last_reason)));
  return lines;
}

void TuneView::on_trial(const tune::Progress& progress) {
  const tune::Trial& trial = *progress.last;
  if (trial.id == m_last_id) return;
  m_last_id = trial.id;
  const std::string_view code = code_of(trial.decision.reason);
  m_last_reason = code.empty() ? judge::name_of(trial.decision.verdict) : std::string(code);
  if (!trial.decision.detail.empty()) m_last_reason += ": " + cut(printable(trial.decision.detail), 60);
  m_speedups.push_back(progress.best_speedup);
  // A trial comes a second time when it is confirmed: it has been told of already.
  if (!trial.decision.keep || std::string_view(progress.stage) == "confirming") return;
  std::string config = config_text(trial.config, m_base.empty() ? nullptr : &m_base);
  if (!trial.diff.empty()) config += config.empty() ? "patch" : " + patch";
  m_live->note(fmt::format("{} {:>7}  {}  candidate {}: {}", m_style.green(m_utf8 ? "✓" : "+"),
                           duration_text(std::round(progress.seconds)),
                           m_style.bold(times_text(progress.best_speedup)), trial.id,
                           config.empty() ? "the baseline's own values" : config));
}

std::string TuneView::plain_line(const tune::Progress& progress) const {
  return fmt::format("  {:>7}  {} candidates, {} failed, best {}{}",
                     duration_text(std::round(progress.seconds)), progress.done, progress.failures,
                     times_text(progress.best_speedup),
                     m_last_reason.empty() ? "" : ", last " + m_last_reason);
}

void TuneView::update(const tune::Progress& progress) {
  if (m_silent) return;
  if (m_first) {
    m_first = false;
    m_done_before = progress.done;
    m_started_ns = m_clock.now_ns();
  }
  if (progress.last != nullptr) on_trial(progress);
  const std::int64_t now = m_clock.now_ns();
  if (m_live->redraws()) {
    // Always handed over: a block that is too early is remembered and drawn with the next one.
    m_live->show(lines(progress, static_cast<double>(now - m_started_ns) * 1e-9));
  } else if (now - m_last_line_ns >= k_plain_every_ns) {
    m_last_line_ns = now;
    m_live->note(plain_line(progress));
  }
}

void TuneView::finish() {
  if (m_live) m_live->clear();
}

}  // namespace tunesmith::app
