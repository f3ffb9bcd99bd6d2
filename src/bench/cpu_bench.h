// The CPU backend: builder, worker and examiner put together behind bench::Bench.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "bench/bench.h"
#include "bench/builder.h"
#include "bench/inputs.h"
#include "bench/machine.h"
#include "bench/race.h"
#include "bench/session.h"

namespace tunesmith::bench {

[[nodiscard]] Result<std::unique_ptr<Bench>> make_cpu_bench(const Case& c, const BenchOptions& options);

/// Sets of inputs of a small shape: new content for a dozen calls of a fresh process.
constexpr std::size_t k_sets_small = 12;

/// A library that can be raced.
struct Contender {
  Loadable what;
  bool trusted = false;
};

class CpuBench : public Bench {
 public:
  CpuBench(const Case& c, const BenchOptions& options, TempDir folder, const Defences& defences);
  Result<Opening> open() override;
  Result<std::string> identity(const Candidate& candidate) override;
  std::vector<Built> build(std::span<const Candidate> candidates) override;
  Evidence measure(const Candidate& candidate, const Built& built) override;
  Status set_incumbent(const Candidate* candidate, const Built* built, double log_ratio_to_baseline) override;
  Evidence confirm(const Candidate& candidate) override;

 protected:
  using Started = tl::expected<std::unique_ptr<Session>, Rejection>;
  struct Heat {
    std::vector<ShapeEvidence> shapes;
    std::optional<Rejection> rejection;  ///< of the candidate, or infra
    double log_ratio = 0, low = 0, high = 0;
    Comparison comparison = Comparison::ambiguous;
  };
  struct HeatOptions {
    std::size_t minimum_pairs = 8, maximum_pairs = 120;
    bool give_up_early = true;
    bool check = true;  ///< off for the slow canary, which may call an inout kernel twice
    double spread_seconds = 0;
    double alpha = 0.01;
  };

  /// The baseline and its two canaries, wrong and slow, in this order.
  struct BaselineBuilds {
    Built plain, wrong, slow;
  };
  [[nodiscard]] virtual Result<BaselineBuilds> build_baseline();
  [[nodiscard]] Result<BuildJob> job_of(const Candidate& candidate, const std::string& identity) const;
  [[nodiscard]] Result<BuildJob> baseline_job() const;
  [[nodiscard]] Result<InputPool> make_pool(const std::vector<Shape>& shapes, std::uint64_t seed,
                                            std::size_t sets);
  [[nodiscard]] Started start(const InputPool& pool, const Contender& contender,
                              const std::string& log_name = {});
  /// Correct on every scored shape; fills the check of each shape.
  [[nodiscard]] std::optional<Rejection> check_all(const InputPool& pool, Session& session,
                                                   std::vector<ShapeEvidence>& shapes);
  [[nodiscard]] Heat race(InputPool& pool, Session& candidate, Session& incumbent,
                          const HeatOptions& options);
  void combine(Heat& heat) const;
  [[nodiscard]] Status open_canaries(const Built& wrong, const Built& slow, Session& baseline);
  [[nodiscard]] Started& incumbent_session();
  [[nodiscard]] double floor_ms(const ShapeLayout& layout);
  [[nodiscard]] CompareRules rules() const;
  void conclude(Evidence& evidence, const Heat& heat) const;
  [[nodiscard]] std::vector<ShapeEvidence> blank_shapes(const InputPool& pool) const;

  const Case& m_case;
  BenchOptions m_options;
  Defences m_defences;
  TempDir m_folder;
  Builder m_builder;
  Machine m_machine;
  bool m_peaks_doubted = false;  ///< the speed of light was measured again after a candidate went below it
  int m_core = -1;
  std::string m_toolchain;
  std::uint64_t m_input_seed = 0;
  std::optional<InputPool> m_pool;
  double m_baseline_error = -1;  ///< largest absolute error of the baseline; < 0 = not known yet
  OutputStore m_store;
  Contender m_baseline, m_incumbent;
  double m_incumbent_log_ratio = 0;
  Started m_incumbent_session = tl::unexpected(Rejection{});
};

}  // namespace tunesmith::bench
