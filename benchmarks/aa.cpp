// How often does the bench call an identical kernel faster, and how often does it find one that does a tenth
// less work? Both with another program busy on every other core.
//
//   build/benchmarks/bench_aa [--rounds 200] [--planted-rounds 50] [--seed 1] [--idle]
//
// An A/A round builds the incumbent's source under another name (one constant differs, the machine code does
// not) and measures it in fresh processes. A planted round measures a kernel of 100 rows against an incumbent
// that computes the first ten of them twice. --idle starts no busy programs.
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "bench/bench.h"
#include "bench/pinning.h"

namespace {

using namespace tunesmith;

constexpr const char* k_kernel = R"(
#ifndef EXTRA
#define EXTRA 10
#endif
#ifndef NAME
#define NAME 0
#endif
__attribute__((used)) static const int name = NAME;

static void __attribute__((noinline)) rows(const float* a, const float* b, float* c, int first, int last, int n, int k) {
  for (int i = first; i < last; ++i) {
    for (int j = 0; j < n; ++j) c[i * n + j] = 0;
    for (int p = 0; p < k; ++p)
      for (int j = 0; j < n; ++j) c[i * n + j] += a[i * k + p] * b[p * n + j];
  }
}

extern "C" void product(const float* a, const float* b, float* c, int m, int n, int k) {
  rows(a, b, c, 0, m, n, k);
  __asm__ volatile("" : : : "memory");
  rows(a, b, c, 0, EXTRA, n, k);
}
)";

std::string case_text(int names) {
  std::string values = "0";
  for (int i = 1; i <= names; ++i) values += fmt::format(", {}", i);
  return R"({
  "name": "aa", "description": "planted differences", "backend": "cpu", "dtype": "f32",
  "source": {"language": "c++", "files": ["kernel.cpp"], "entry": "product", "editable": []},
  "flags": ["-O3", "-march=native"], "dimensions": ["m", "n", "k"], "shapes": [{"m": 100, "n": 128, "k": 128}],
  "arguments": [
    {"name": "a", "buffer": "f32", "shape": ["m", "k"], "role": "in"},
    {"name": "b", "buffer": "f32", "shape": ["k", "n"], "role": "in"},
    {"name": "c", "buffer": "f32", "shape": ["m", "n"], "role": "out"},
    {"name": "m", "scalar": "i32", "value": "m"}, {"name": "n", "scalar": "i32", "value": "n"}, {"name": "k", "scalar": "i32", "value": "k"}],
  "reference": {"builtin": "gemm", "bind": {"a": "a", "b": "b", "c": "c"}},
  "tolerance": {"absolute": 1e-3},
  "parameters": {"EXTRA": [0, 10], "NAME": [)" +
         values + R"json(]},
  "baseline": {"config": {"EXTRA": 10, "NAME": 0}},
  "work": {"flops": "2*m*n*k", "bytes": "4*(m*k + k*n + m*n)"}
})json";
}

/// Keeps every core but the measuring one busy while it lives.
class BusyCores {
 public:
  explicit BusyCores(std::optional<int> spare) {
    cpu_set_t allowed;
    if (!spare || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (!CPU_ISSET(core, &allowed) || core == *spare) continue;
      const pid_t parent = getpid();
      const pid_t child = fork();
      if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(0);
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(core, &one);
        sched_setaffinity(0, sizeof one, &one);
        // The compilers of the next rounds share this core: an ordinary program, whatever we are.
        sched_param plain{};
        sched_setscheduler(0, SCHED_OTHER, &plain);
        for (unsigned long i = 0;; ++i) __asm__ volatile("" : "+r"(i));
      }
      if (child > 0) m_children.push_back(child);
    }
  }
  ~BusyCores() {
    for (const pid_t child : m_children) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }
  [[nodiscard]] std::size_t count() const { return m_children.size(); }

 private:
  std::vector<pid_t> m_children;
};

struct Tally {
  int rounds = 0;
  std::map<std::string, int> verdicts;
  std::vector<double> ratios;
  std::vector<int> pairs;

  void add(const Evidence& evidence) {
    ++rounds;
    if (evidence.rejection != Reason::none) {
      ++verdicts["rejected " + std::string(code_of(evidence.rejection))];
      fmt::print(stderr, "rejected: {}\n", evidence.rejection_detail);
      return;
    }
    ++verdicts[name_of(evidence.comparison)];
    ratios.push_back(std::exp(evidence.log_ratio));
    pairs.push_back(evidence.shapes[0].timing.pairs);
  }
  [[nodiscard]] int faster() const {
    const auto found = verdicts.find("faster");
    return found == verdicts.end() ? 0 : found->second;
  }
  [[nodiscard]] json::object to_json() {
    json::object out;
    out["rounds"] = rounds;
    out["faster"] = faster();
    for (const auto& [verdict, n] : verdicts) out[verdict] = n;
    std::sort(ratios.begin(), ratios.end());
    std::sort(pairs.begin(), pairs.end());
    if (!ratios.empty()) {
      out["ratio_median"] = ratios[ratios.size() / 2];
      out["ratio_least"] = ratios.front();
      out["ratio_greatest"] = ratios.back();
      out["pairs_median"] = pairs[pairs.size() / 2];
    }
    return out;
  }
};

int give_up(const Error& error) {
  fmt::print(stderr, "{}\n", error.line());
  return 6;
}

Candidate config(const Case& c, int extra, int name) {
  return Candidate{
      *c.space.from_json(*Node::parse(fmt::format(R"({{"EXTRA": {}, "NAME": {}}})", extra, name), "config")),
      {}};
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 200, planted = 50;
  std::uint64_t seed = 1;
  bool idle = false;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--idle") {
      idle = true;
    } else if (i + 1 < argc && flag == "--rounds") {
      rounds = std::atoi(argv[++i]);
    } else if (i + 1 < argc && flag == "--planted-rounds") {
      planted = std::atoi(argv[++i]);
    } else if (i + 1 < argc && flag == "--seed") {
      seed = std::strtoull(argv[++i], nullptr, 10);
    } else {
      fmt::print(stderr, "usage: bench_aa [--rounds N] [--planted-rounds N] [--seed N] [--idle]\n");
      return 2;
    }
  }

  auto folder = TempDir::make("tunesmith-aa-");
  if (!folder) return give_up(folder.error());
  const std::string file = folder->path() + "/aa.json";
  if (auto wrote = write_scratch(folder->path() + "/kernel.cpp", k_kernel); !wrote)
    return give_up(wrote.error());
  if (auto wrote = write_scratch(file, case_text(std::max({rounds, planted, 1}))); !wrote)
    return give_up(wrote.error());
  const auto c = load_case(file);
  if (!c) return give_up(c.error());
  bench::BenchOptions options;
  options.seed = seed;
  options.input_seed = seed;
  options.build_jobs = 1;
  auto made = bench::make_bench(*c, options);
  if (!made) return give_up(made.error());
  bench::Bench& bench = **made;
  if (auto opened = bench.open(); !opened) return give_up(opened.error());

  std::size_t busy = 0;
  Tally same, faster;
  const auto started = std::chrono::steady_clock::now();
  {
    const BusyCores load(idle ? std::nullopt : std::optional(bench::measuring_core()));
    busy = load.count();
    // Both kinds in turn, so that they see the same machine.
    for (int i = 0; i < std::max(rounds, planted); ++i) {
      for (const bool is_planted : {false, true}) {
        if (i >= (is_planted ? planted : rounds)) continue;
        const Candidate candidate = config(*c, is_planted ? 0 : 10, i + 1);
        const bench::Built built = bench.build(std::span(&candidate, 1)).front();
        // A fresh process for the incumbent as well.
        if (auto set = bench.set_incumbent(nullptr, nullptr, 0); !set) return give_up(set.error());
        (is_planted ? faster : same).add(bench.measure(candidate, built));
      }
      if ((i + 1) % 20 == 0)
        fmt::print(stderr, "{} rounds: identical called faster {}, planted found {}\n", i + 1, same.faster(),
                   faster.faster());
    }
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  fmt::print("identical kernel called faster: {} of {}\n", same.faster(), same.rounds);
  fmt::print("kernel with a tenth less work found: {} of {}\n", faster.faster(), faster.rounds);
  json::object out;
  out["busy_cores"] = busy;
  out["seed"] = seed;
  out["seconds"] = seconds;
  out["identical"] = same.to_json();
  out["planted"] = faster.to_json();
  fmt::print("{}\n", print_json_compact(out));
  const bool good = same.faster() * 100 <= same.rounds && faster.faster() * 10 >= 9 * faster.rounds;
  return good ? 0 : 1;
}
