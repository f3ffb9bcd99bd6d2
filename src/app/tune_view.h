// What a person sees while a run goes on: a live block on a terminal, else a line per kept improvement and
// one about every ten seconds. Written to stderr, so that the answer on stdout stays clean.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/command.h"
#include "base/clock.h"
#include "term/live.h"
#include "tune/loop.h"

namespace tunesmith::app {

class TuneView {
 public:
  TuneView(const Context& context, std::string title, json::object base_config, const Clock& clock);
  void update(const tune::Progress& progress);
  void finish();

  /// The lines of the live block; also what the tests read.
  [[nodiscard]] std::vector<std::string> lines(const tune::Progress& progress, double seconds) const;

 private:
  void on_trial(const tune::Progress& progress);
  [[nodiscard]] std::string plain_line(const tune::Progress& progress) const;

  bool m_silent;
  std::FILE* m_err;
  std::string m_title;
  json::object m_base;
  const Clock& m_clock;
  term::Style m_style;
  bool m_utf8 = true;
  std::unique_ptr<term::Live> m_live;
  std::int64_t m_started_ns;
  std::int64_t m_last_line_ns;
  std::uint64_t m_done_before = 0;  ///< replayed from the journal: they say nothing about this session's pace
  bool m_first = true;
  std::int64_t m_last_id = -1;
  std::string m_last_reason;
  std::vector<double> m_speedups;
};

}  // namespace tunesmith::app
