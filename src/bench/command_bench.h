// The command backend: the user's own build and run lines. With a shared library that offers the C entry,
// buffers and clock are the examiner's as everywhere; a run line alone reports its own figures, and they are
// marked so.
#pragma once

#include "bench/cpu_bench.h"

namespace tunesmith::bench {

[[nodiscard]] Result<std::unique_ptr<Bench>> make_command_bench(const Case& c, const BenchOptions& options);

/// One of the case's command lines run to the end. It is the engineer's own, so it runs outside the sandbox,
/// in a process group of its own, with limits and with an environment of PATH, HOME and LANG only; {PARAM},
/// {out} and {result} are replaced in its words, and no shell sees them.
struct CommandRun {
  bool ok = false;
  bool timed_out = false;
  std::string text;  ///< "exit status 1", …
  std::string output;
  double wall_ms = 0, cpu_ms = 0;
};
[[nodiscard]] Result<CommandRun> run_case_command(const Case& c, const std::vector<std::string>& argv,
                                                  const space::Config& config, const std::string& out,
                                                  const std::string& result, double seconds,
                                                  const std::atomic<bool>* stop);

/// Builds by the case's line, takes the library from where the line left it, binds it to generated glue.
class CommandLibraryBench : public CpuBench {
 public:
  using CpuBench::CpuBench;
  std::vector<Built> build(std::span<const Candidate> candidates) override;

 private:
  Result<BaselineBuilds> build_baseline() override;
  [[nodiscard]] Built build_one(const Candidate& candidate, const std::string& identity);
  [[nodiscard]] Built glue(GlueKind kind);
  std::string m_plain_glue;
};

/// No C entry: the run line prints or writes a result JSON. Candidate and incumbent take turns all the same.
class SelfReportedBench : public Bench {
 public:
  SelfReportedBench(const Case& c, const BenchOptions& options, TempDir folder);
  Result<Opening> open() override;
  Result<std::string> identity(const Candidate& candidate) override;
  std::vector<Built> build(std::span<const Candidate> candidates) override;
  Evidence measure(const Candidate& candidate, const Built& built) override;
  Status set_incumbent(const Candidate* candidate, const Built* built, double log_ratio_to_baseline) override;
  Evidence confirm(const Candidate& candidate) override;

 private:
  struct Report {
    double latency_ms = 0;
    std::optional<double> max_abs_error, max_rel_error;
  };
  [[nodiscard]] tl::expected<Report, Rejection> run_once(const Candidate& candidate);
  [[nodiscard]] Evidence duel(const Candidate& candidate, const Candidate& incumbent,
                              const BuildEvidence& build, int rounds);

  const Case& m_case;
  BenchOptions m_options;
  TempDir m_folder;
  Candidate m_incumbent;
  double m_incumbent_log_ratio = 0;
  std::string m_toolchain;
  std::string m_machine;
  int m_runs = 0;
};

}  // namespace tunesmith::bench
