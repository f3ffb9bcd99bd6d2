// What the harness itself costs a candidate: CPU beyond compiler and kernel.
//
//   build/benchmarks/bench_overhead [--case cpu-gemm-256] [--candidates 40] [--seed 1]
//
// For each of a number of random configurations, one after another: own = CPU of this process while it builds
// and measures (inputs, comparisons, statistics); worker = CPU of the worker processes beyond kernel calls
// (start, mapping, loading, answering); launch = what the sandbox adds to a compiler start, measured apart as
// the same small program started plainly and in the builder's sandbox, in turn.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/random.h"
#include "bench/bench.h"
#include "os/process.h"
#include "stats/descriptive.h"

namespace {

using namespace tunesmith;

double process_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

int give_up(const Error& error) {
  fmt::print(stderr, "{}\n", error.line());
  return 6;
}

/// CPU of one start of the compiler driver (no compilation), in milliseconds.
double compiler_start_ms(bool sandboxed, const std::string& folder) {
  os::Command command;
  command.argv = {"/usr/bin/g++", "--version"};
  command.environment = {"PATH=/usr/bin:/bin", "LC_ALL=C"};
  command.working_folder = folder;
  if (sandboxed) {
    box::Policy policy;
    policy.read_only = {"/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/alternatives"};
    policy.read_write = {folder};
    policy.cpu_seconds = 60;
    policy.file_size_bytes = 256ULL << 20;
    policy.address_space_bytes = 4ULL << 30;
    policy.processes = 256;
    policy.open_files = 256;
    command.policy = policy;
  }
  // The launcher's own time is not in Finished::cpu_ms of what it runs: own_cpu_ms counts every reaped child.
  const double own_before = process_ms(), all_before = os::own_cpu_ms();
  const os::Finished finished = os::run(command);
  const double all = os::own_cpu_ms() - all_before, own = process_ms() - own_before;
  return finished.ok() ? all - own : -1;
}

}  // namespace

int main(int argc, char** argv) {
  std::string name = "cpu-gemm-256";
  std::size_t wanted = 40;
  std::uint64_t seed = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (i + 1 < argc && flag == "--case") {
      name = argv[++i];
    } else if (i + 1 < argc && flag == "--candidates") {
      wanted = std::strtoull(argv[++i], nullptr, 10);
    } else if (i + 1 < argc && flag == "--seed") {
      seed = std::strtoull(argv[++i], nullptr, 10);
    } else {
      fmt::print(stderr, "usage: bench_overhead [--case CASE] [--candidates N] [--seed N]\n");
      return 2;
    }
  }
  const auto c = load_case(name);
  if (!c) return give_up(c.error());
  bench::BenchOptions options;
  options.seed = seed;
  options.build_jobs = 1;
  auto made = bench::make_bench(*c, options);
  if (!made) return give_up(made.error());
  bench::Bench& bench = **made;
  const auto opened = bench.open();
  if (!opened) return give_up(opened.error());
  auto folder = TempDir::make("tunesmith-overhead-");
  if (!folder) return give_up(folder.error());
  if (auto given = os::give_to_sandbox(folder->path()); !given) return give_up(given.error());

  Rng rng(seed);
  std::vector<double> own, worker, plain, boxed, launch, total, compiler, pairs;
  int rejected = 0, faster = 0;
  while (own.size() < wanted) {
    const Candidate candidate{c->space.sample(rng), {}};
    const double before = process_ms();
    const bench::Built built = bench.build(std::span(&candidate, 1)).front();
    const double before_measure = process_ms();
    const Evidence evidence = bench.measure(candidate, built);
    const double mine = process_ms() - before, measuring = process_ms() - before_measure;
    if (evidence.infra) return give_up(Error{ErrorCode::infra, evidence.rejection_detail, {}, {}});
    if (evidence.rejection != Reason::none) {
      ++rejected;
      if (rejected > static_cast<int>(wanted))
        return give_up(Error{
            ErrorCode::infra, "too many candidates are rejected: " + evidence.rejection_detail, {}, {}});
      continue;
    }
    faster += evidence.comparison == Comparison::faster ? 1 : 0;
    const double box_first = own.size() % 2 == 0 ? compiler_start_ms(true, folder->path()) : 0;
    const double start = compiler_start_ms(false, folder->path());
    const double box = own.size() % 2 == 0 ? box_first : compiler_start_ms(true, folder->path());
    if (start < 0 || box < 0)
      return give_up(Error{ErrorCode::infra, "the compiler does not start in the sandbox", {}, {}});
    own.push_back(mine);
    // overhead_cpu_ms is ours and the workers' together.
    worker.push_back(std::max(0.0, evidence.overhead_cpu_ms - evidence.build.overhead_cpu_ms - measuring));
    plain.push_back(start);
    boxed.push_back(box);
    launch.push_back(box - start);
    total.push_back(own.back() + worker.back() + launch.back());
    compiler.push_back(evidence.build.cpu_ms);
    pairs.push_back(evidence.shapes[0].timing.pairs);
  }
  const auto line = [](const char* what, std::vector<double> values) {
    std::sort(values.begin(), values.end());
    fmt::print("{:<44} median {:7.2f} ms   quartiles {:.2f} .. {:.2f}\n", what, stats::median(values),
               values[values.size() / 4], values[values.size() * 3 / 4]);
  };
  fmt::print("{}: {} candidates, {} rejected, {} faster, {}\n", c->name, own.size(), rejected, faster,
             opened->isolation);
  line("own: this process", own);
  line("worker beyond kernel calls", worker);
  line("sandbox around the compiler", launch);
  line("total beyond compiler and kernel", total);
  line("(compiler and linker)", compiler);
  line("(a compiler driver's start, plain)", plain);
  line("(the same in the sandbox)", boxed);
  json::object out;
  out["case"] = c->name;
  out["candidates"] = own.size();
  out["own_ms"] = stats::median(own);
  out["worker_ms"] = stats::median(worker);
  out["launch_ms"] = stats::median(launch);
  out["total_ms"] = stats::median(total);
  out["compiler_ms"] = stats::median(compiler);
  out["pairs"] = stats::median(pairs);
  out["isolation"] = opened->isolation;
  fmt::print("{}\n", print_json_compact(out));
  return stats::median(total) <= 20 && stats::median(own) <= 5 ? 0 : 1;
}
