#include <fmt/format.h>

#include <array>

#include "app/command.h"
#include "app/museum.h"
#include "app/stop.h"
#include "base/file.h"
#include "bench/bench.h"
#include "bench/machine.h"
#include "case/case.h"
#include "judge/judge.h"
#include "os/process.h"
#include "term/style.h"

namespace tunesmith::app {

namespace {

// Small and plain; each fault is planted by a parameter, so that every answer is known beforehand.
constexpr std::string_view k_kernel = R"(#ifndef FAULT
#define FAULT 0
#endif
#ifndef ROUNDS
#define ROUNDS 4
#endif
extern "C" void polynomial(int n, const float* x, float* y) {
  for (int round = 0; round < ROUNDS; ++round) {
    for (int i = 0; i < n; ++i) y[i] = ((x[i] * 0.5f + 0.25f) * x[i] + 1.0f) * x[i] + 2.0f;
  }
#if FAULT == 1
  y[n - 1] += 1.0f;
#elif FAULT == 2
  *(volatile int*)0 = 1;
#elif FAULT == 3
  y[n / 2] = 0.0f / (x[0] - x[0]);
#endif
}
)";

constexpr std::string_view k_reference = R"(extern "C" void polynomial(int n, const real* x, real* y) {
  for (int i = 0; i < n; ++i) y[i] = ((x[i] * 0.5 + 0.25) * x[i] + 1.0) * x[i] + 2.0;
}
)";

constexpr std::string_view k_case = R"({
  "name": "selftest",
  "backend": "cpu",
  "dtype": "f32",
  "source": {"language": "c++", "files": ["kernel.cpp"], "entry": "polynomial", "editable": []},
  "flags": ["-O2"],
  "dimensions": ["n"],
  "shapes": [{"n": 20000}],
  "arguments": [
    {"name": "n", "scalar": "i32", "value": "n"},
    {"name": "x", "buffer": "f32", "shape": ["n"], "role": "in"},
    {"name": "y", "buffer": "f32", "shape": ["n"], "role": "out"}
  ],
  "reference": {"source": {"language": "c++", "files": ["reference.cpp"], "entry": "polynomial"}},
  "tolerance": {"absolute": 1e-4, "relative": 0},
  "parameters": {"FAULT": [0, 1, 2, 3], "ROUNDS": [1, 4, 8], "TWIN": [0, 1]},
  "baseline": {"config": {"FAULT": 0, "ROUNDS": 4, "TWIN": 0}, "label": "four rounds"},
  "work": {"flops": "6*n", "bytes": "8*n"}
}
)";

class Report {
 public:
  explicit Report(Context& context) : m_context(context), m_style(context.color) {}

  void check(const std::string& what, bool ok, const std::string& found) {
    m_ok = m_ok && ok;
    m_list.push_back(json::object{{"check", what}, {"ok", ok}, {"found", found}});
    if (m_context.json || (m_context.quiet && ok)) return;
    m_context.print(
        fmt::format("{}  {:<46}{}", ok ? m_style.green("ok  ") : m_style.red("FAIL"), what, found));
  }
  void note(const std::string& text) {
    m_notes.push_back(json::string(text));
    m_context.say("note  " + text);
  }
  Exit end() {
    if (m_context.json)
      m_context.print_json(json::object{{"ok", m_ok}, {"checks", m_list}, {"notes", m_notes}});
    m_context.say(m_ok ? "this machine measures and judges as it should"
                       : "do not trust results of this machine yet");
    return m_ok ? Exit::success : Exit::failed;
  }

 private:
  Context& m_context;
  term::Style m_style;
  json::array m_list;
  json::array m_notes;
  bool m_ok = true;
};

struct Planted {
  const char* what;
  const char* config;  ///< JSON
  bool (*as_it_should)(const Evidence& evidence);
};

const std::vector<Planted>& planted() {
  static const std::vector<Planted> table = {
      {"one wrong element is refused", R"({"FAULT": 1, "ROUNDS": 4, "TWIN": 0})",
       [](const Evidence& e) { return e.rejection == Reason::wrong_result; }},
      {"a crash is refused and hurts nobody", R"({"FAULT": 2, "ROUNDS": 4, "TWIN": 0})",
       [](const Evidence& e) { return e.rejection == Reason::crashed; }},
      {"one NaN is refused", R"({"FAULT": 3, "ROUNDS": 4, "TWIN": 0})",
       [](const Evidence& e) { return e.rejection == Reason::nan_mismatch; }},
      {"an identical twin is not FASTER", R"({"FAULT": 0, "ROUNDS": 4, "TWIN": 1})",
       [](const Evidence& e) { return e.rejection == Reason::none && e.comparison != Comparison::faster; }},
      {"twice the work is SLOWER", R"({"FAULT": 0, "ROUNDS": 8, "TWIN": 0})",
       [](const Evidence& e) { return e.rejection == Reason::none && e.comparison == Comparison::slower; }},
      {"a quarter of the work is FASTER", R"({"FAULT": 0, "ROUNDS": 1, "TWIN": 0})",
       [](const Evidence& e) { return e.rejection == Reason::none && e.comparison == Comparison::faster; }},
  };
  return table;
}

std::string found_text(const Evidence& evidence) {
  if (evidence.rejection != Reason::none) {
    return fmt::format("{}: {}", code_of(evidence.rejection), evidence.rejection_detail);
  }
  return name_of(evidence.comparison);
}

Status visit_museum(const Context& context, Report& report, const std::atomic<bool>* stop) {
  TS_ASSIGN(const std::string folder, Museum::find());
  TS_ASSIGN(Museum museum, Museum::load(folder));
  museum.stop_on(stop);
  const std::uint64_t seed = context.arguments.count("--seed").value_or(1);
  for (const MuseumEntry& entry : museum.entries()) {
    TS_ASSIGN(const MuseumResult result, museum.run(entry, seed));
    report.check(fmt::format("{} {}", entry.id, entry.name), result.ok(), result.text());
  }
  return {};
}

Result<Exit> run(Context& context) {
  Report report(context);
  const auto worker = os::worker_program();
  report.check("the worker program stands beside this one", worker.has_value(),
               worker ? *worker : worker.error().line());
  if (!worker) return report.end();
  TS_ASSIGN(const bench::Machine machine, bench::machine_facts());
  report.check("the speed of light is known", machine.fma_f32_gflops > 0 && machine.read_gbytes > 0,
               fmt::format("{:.0f} GFLOP/s f32, {:.0f} GB/s", machine.fma_f32_gflops, machine.read_gbytes));

  TS_ASSIGN(const TempDir folder, TempDir::make());
  TS_TRY(write_file_atomic(folder.path() + "/kernel.cpp", k_kernel));
  TS_TRY(write_file_atomic(folder.path() + "/reference.cpp", k_reference));
  TS_TRY(write_file_atomic(folder.path() + "/selftest.json", k_case));
  TS_ASSIGN(const Case c, load_case(folder.path() + "/selftest.json"));
  StopOnSignal stop;
  bench::BenchOptions options;
  options.run_folder = folder.path();
  options.stop = stop.flag();
  TS_ASSIGN(const auto bench, bench::make_bench(c, options));
  const auto opening = bench->open();
  if (!opening && stop.stopped())
    return tl::unexpected<Error>(stop.explain(opening.error(), "opening a tiny case"));
  report.check("lint and canaries of a tiny case", opening.has_value(),
               opening ? opening->toolchain : opening.error().line());
  if (!opening) return report.end();
  report.check("candidates run isolated", opening->isolation != "none" && !opening->isolation.empty(),
               opening->isolation);
  for (const std::string& note : opening->notes) report.note(note);

  for (const Planted& one : planted()) {
    TS_ASSIGN(const Node config, Node::parse(one.config, "selftest"));
    Candidate candidate;
    TS_ASSIGN(candidate.config, c.space.from_json(config));
    const std::array<Candidate, 1> candidates = {candidate};
    const std::vector<bench::Built> built = bench->build(candidates);
    if (built.front().evidence.outcome != BuildEvidence::Outcome::ok) {
      report.check(one.what, false, "it did not build: " + built.front().evidence.detail);
      continue;
    }
    const Evidence evidence = bench->measure(candidate, built.front());
    if (stop.stopped()) return fail(ErrorCode::interrupted, "stopped", "run it again");
    report.check(one.what, one.as_it_should(evidence), found_text(evidence));
  }
  if (context.arguments.has("--museum")) TS_TRY(visit_museum(context, report, stop.flag()));
  return report.end();
}

}  // namespace

Command selftest_command() {
  return {
      .name = "selftest",
      .summary = "Prove on this machine that faults are caught and speeds are told apart",
      .text =
          "Shows the sandbox layers that stand here, and runs a tiny kernel with planted faults: a wrong "
          "element, a "
          "NaN and a crash must be refused; twice the work must show as SLOWER, a quarter as FASTER, and an "
          "identical twin as neither. Takes some seconds. With --museum, every cheat of the museum as well: "
          "it must be "
          "caught, its honest twin accepted, and let through once the one defence is off; that takes "
          "minutes.",
      .options = {{"--museum", Kind::toggle, "", "run the museum of cheats as well"},
                  {"--seed", Kind::count, "N", "the museum's seed, to replay a failure", "1"}},
      .examples = {{"tunesmith selftest", "before you trust a new machine"},
                   {"tunesmith selftest --museum",
                    "prove that each cheat is caught by the defence that is said to catch it"}},
      .exits = {Exit::failed},
      .run = run,
  };
}

}  // namespace tunesmith::app
