// Starts or resumes one run on the fake bench and carries it to its end: kill_driver RUN_FOLDER SIDE_FILE
// EVALUATIONS. Exit status: 0 done; otherwise 10 + the error's code, with its line on stderr.
#include <cstdio>
#include <cstdlib>

#include "search/strategy.h"
#include "support/fake_bench.h"
#include "tune/loop.h"

using namespace tunesmith;

namespace {

int complain(const Error& error) {
  std::fprintf(stderr, "%s\n", error.line().c_str());
  return 10 + static_cast<int>(error.code);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return 2;
  const std::string folder = arguments[1];
  const Case c = test::small_case(1, 16);
  const judge::Gate gate = judge::Gate::standard(1e-3);
  const judge::Objective objective;
  tune::LoopOptions options;
  options.evaluations = std::strtoull(arguments[3], nullptr, 10);
  const std::uint64_t seed = 5;

  auto journal = tune::Journal::resume(folder);
  if (!journal && journal.error().code == ErrorCode::unreadable) {
    tune::RunHeader header;
    header.case_sha256 = c.text_sha256;
    header.gate_sha256 = gate.sha256();
    header.objective_sha256 = objective.sha256();
    header.strategy = "auto";
    header.seed = seed;
    header.batch = 4;
    header.evaluations = options.evaluations;
    const Error before = journal.error();
    journal = tune::Journal::create(folder, header);
    // Torn or foreign files are no fresh start: say what resume said.
    if (!journal && journal.error().code == ErrorCode::conflict) return complain(before);
  }
  if (!journal) return complain(journal.error());
  auto strategy = search::make_strategy("auto", c.space, seed, {options.evaluations});
  if (!strategy) return complain(strategy.error());
  test::FakeBench bench(c, arguments[2]);
  bench.confirmation_fails = [](const Candidate& candidate) { return candidate.config.at[0] % 3 == 0; };
  const Clock clock;
  tune::Loop loop(c, bench, **strategy, *journal, gate, objective, options, clock);
  const auto summary = loop.run();
  if (!summary) return complain(summary.error());
  std::printf("winner %lld\n", summary->winner ? static_cast<long long>(summary->winner->id) : 0LL);
  return 0;
}
