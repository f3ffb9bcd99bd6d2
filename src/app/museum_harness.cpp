// Entries of the museum that are no candidate's doing, or that a candidate never gets to do: each is acted
// out here.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <functional>
#include <limits>

#include "app/museum.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "bench/compare.h"
#include "bench/defences.h"
#include "case/candidate.h"
#include "case/flags.h"
#include "judge/judge.h"
#include "os/process.h"

namespace tunesmith::app {

namespace {

void add(MuseumResult& result, const std::string& what, bool ok, const std::string& found) {
  result.runs.push_back({what, ok, found});
}

std::string text_of(const judge::Decision& decision) {
  return decision.reason == Reason::none ? "kept"
                                         : fmt::format("{}: {}", code_of(decision.reason), decision.detail);
}

/// A1, A3: the case is refused at opening, before anything is built.
Result<MuseumResult> lint(Museum& museum, const MuseumEntry& entry, std::uint64_t seed) {
  MuseumResult result;
  TS_ASSIGN(const Case c, museum.read_case(entry.case_name));
  for (const char* what : {"cheat", "again"}) {
    bench::BenchOptions options;
    options.input_seed = seed;
    TS_ASSIGN(const auto bench, bench::make_bench(c, options));
    const auto opening = bench->open();
    const std::string found = opening ? "the case was opened" : opening.error().line();
    add(result, what, !opening && found.find("all zeros passes") != std::string::npos, found);
  }
  const bool softmax = entry.id == "A1";
  TS_ASSIGN(Museum::Hall* const hall, museum.hall(softmax ? "softmax" : "product", seed, {}));
  TS_ASSIGN(const Candidate twin, museum.candidate(hall->c, "slow", ""));
  TS_ASSIGN(const Museum::Outcome honest, museum.measure(*hall, twin));
  add(result, "twin", honest.accepted, "under a fitting tolerance: " + honest.text);
  // Values of the size that the case's results have: 1/cols at most e^2 times; a product of any size.
  const std::vector<double> want(64, softmax ? 1.0 / 4096 : 3.0);
  const std::vector<float> zeros(64, 0.0F);
  bench::CompareRules rules;
  rules.tolerance = c.tolerance;
  const auto difference =
      bench::compare(reinterpret_cast<const std::byte*>(zeros.data()), Dtype::f32, want, 64, rules, 1);
  add(result, "control", difference.reason == Reason::none,
      fmt::format("{} of 64 zeros are wrong", difference.bad));
  return result;
}

/// A9: only the confirmation calls held-out shapes.
Result<MuseumResult> held_out(Museum& museum, const MuseumEntry& entry, std::uint64_t seed) {
  MuseumResult result;
  TS_ASSIGN(Museum::Hall* const hall, museum.hall(entry.case_name, seed, {}));
  TS_ASSIGN(const Candidate cheat, museum.candidate(hall->c, entry.cheat, ""));
  TS_ASSIGN(const Candidate twin, museum.candidate(hall->c, entry.twin, ""));
  for (const char* what : {"cheat", "again"}) {
    const Evidence evidence = hall->bench->confirm(cheat);
    add(result, what, evidence.rejection == Reason::stale_output,
        fmt::format("{}: {}", code_of(evidence.rejection), evidence.rejection_detail));
  }
  // The twin's confirmation takes its time: it is measured over seconds on purpose.
  const Evidence honest = hall->bench->confirm(twin);
  add(result, "twin", honest.rejection == Reason::none && honest.confirmed,
      honest.rejection == Reason::none ? name_of(honest.comparison) : honest.rejection_detail);
  TS_ASSIGN(const Museum::Outcome passed, museum.measure(*hall, cheat));
  add(result, "control", passed.accepted && passed.comparison == Comparison::faster, passed.text);
  return result;
}

/// Evidence of an honest win on every shape.
Evidence good_evidence(const Case& c) {
  Evidence evidence;
  evidence.build.outcome = BuildEvidence::Outcome::ok;
  for (const Shape& shape : c.shapes) {
    ShapeEvidence s;
    s.shape = shape.name;
    s.flops = 1e6;
    s.check = {6, 6, 1e-6, 1e-6, 0, 0, 0, true};
    s.timing.pairs = 20;
    s.timing.latency_ms = s.timing.cpu_ms = 1;
    s.timing.incumbent_latency_ms = s.timing.incumbent_cpu_ms = 2;
    s.timing.log_ratio = s.timing.log_ratio_low = s.timing.log_ratio_high = -0.7;
    s.timing.comparison = Comparison::faster;
    evidence.shapes.push_back(s);
  }
  evidence.log_ratio = evidence.log_ratio_to_baseline = -0.7;
  evidence.comparison = Comparison::faster;
  evidence.peak_memory_bytes = 1 << 20;
  return evidence;
}

judge::Decision decide(const Case& c, const Evidence& evidence) {
  judge::Standing standing;
  standing.baseline_latency_ms = 2;
  return judge::decide(evidence, c, judge::Gate::standard(c.tolerance.absolute), judge::Objective(),
                       standing);
}

/// The same pitfall several ways: each way must get `reason`.
using Spoil = std::function<void(Evidence&)>;
void judge_each(MuseumResult& result, const Case& c, Reason reason, const std::vector<Spoil>& ways) {
  for (const char* what : {"cheat", "again"}) {
    std::string found;
    bool ok = true;
    for (const Spoil& spoil : ways) {
      Evidence evidence = good_evidence(c);
      spoil(evidence);
      const judge::Decision decision = decide(c, evidence);
      ok = ok && decision.reason == reason && !decision.keep;
      found += (found.empty() ? "" : "; ") + text_of(decision);
    }
    add(result, what, ok, found);
  }
  const judge::Decision honest = decide(c, good_evidence(c));
  add(result, "twin", honest.keep, text_of(honest));
}

/// B5
Result<MuseumResult> no_time(Museum& museum, const MuseumEntry&, std::uint64_t) {
  MuseumResult result;
  TS_ASSIGN(const Case c, museum.read_case("product"));
  std::vector<Spoil> ways;
  for (const double time :
       {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    ways.push_back([time](Evidence& e) { e.shapes.back().timing.latency_ms = time; });
  }
  ways.push_back([](Evidence& e) { e.log_ratio = -std::numeric_limits<double>::infinity(); });
  judge_each(result, c, Reason::impossible_time, ways);
  const double honest = std::sqrt(1.0 * 1.0), collapsed = std::sqrt(1.0 * 0.0);
  add(result, "control", collapsed < honest,
      fmt::format("a geometric mean of {} ms beats {} ms", collapsed, honest));
  return result;
}

/// E4
Result<MuseumResult> no_evidence(Museum& museum, const MuseumEntry&, std::uint64_t) {
  MuseumResult result;
  TS_ASSIGN(const Case c, museum.read_case("product"));
  judge_each(result, c, Reason::missing_evidence,
             {[](Evidence& e) { e.shapes.back().check = {0, 0, 0, 0, 0, 0, 0, true}; },
              [](Evidence& e) { e.shapes.back().check.executed = 5; },
              [](Evidence& e) { e.shapes.pop_back(); }, [](Evidence& e) { e.shapes.clear(); }});
  Evidence evidence = good_evidence(c);
  evidence.shapes.back().check = {0, 0, 0, 0, 0, 0, 0, true};
  const CheckEvidence& check = evidence.shapes.back().check;
  add(result, "control", check.bad_elements == 0 && check.executed >= check.planned,
      "no check failed, because none was made");
  return result;
}

/// E6
Result<MuseumResult> infra(Museum& museum, const MuseumEntry&, std::uint64_t) {
  MuseumResult result;
  TS_ASSIGN(const Case c, museum.read_case("product"));
  const auto killed = [](Evidence& e) {
    e.rejection = Reason::crashed;
    e.rejection_detail = "killed by SIGKILL";
  };
  judge_each(result, c, Reason::infra,
             {[&](Evidence& e) { killed(e), e.infra = true; },
              [](Evidence& e) { e.build.outcome = BuildEvidence::Outcome::infra; }});
  Evidence evidence = good_evidence(c);
  killed(evidence);
  const judge::Decision charged = decide(c, evidence);
  add(result, "control", charged.reason == Reason::crashed, text_of(charged));
  return result;
}

std::string patch(const std::string& path, const std::string& first_line) {
  return fmt::format("--- a/{0}\n+++ b/{0}\n@@ -1 +1,2 @@\n {1}\n+// one line more\n", path, first_line);
}

Result<std::string> first_line(const std::string& path) {
  TS_ASSIGN(const std::string text, read_file(path));
  return text.substr(0, text.find('\n'));
}

/// D1
Result<MuseumResult> foreign_edit(Museum& museum, const MuseumEntry&, std::uint64_t seed) {
  MuseumResult result;
  TS_ASSIGN(Museum::Hall* const hall, museum.hall("product", seed, {}));
  TS_ASSIGN(Candidate cheat, museum.candidate(hall->c, "fast", ""));
  TS_ASSIGN(const std::string line, first_line(hall->c.source.files[1]));
  cheat.diff = patch("honest.h", line);
  for (const char* what : {"cheat", "again"}) {
    TS_ASSIGN(const Museum::Outcome caught, museum.measure(*hall, cheat));
    add(result, what, caught.reason == Reason::forbidden_edit, caught.text);
  }
  TS_ASSIGN(const Candidate twin, museum.candidate(hall->c, "fast", "// one line more"));
  TS_ASSIGN(const Museum::Outcome honest, museum.measure(*hall, twin));
  add(result, "twin", honest.accepted, honest.text);
  Case open = hall->c;
  open.source.editable = open.source.files;
  const auto patched = patched_sources(open, cheat.diff);
  add(result, "control",
      patched && patched->at(open.source.files[1]).find("one line more") != std::string::npos,
      patched ? "the file would be changed" : patched.error().line());
  return result;
}

/// D6e
Result<MuseumResult> foreign_paths(Museum& museum, const MuseumEntry&, std::uint64_t) {
  MuseumResult result;
  TS_ASSIGN(const TempDir folder, TempDir::make("tunesmith-museum-"));
  TS_ASSIGN(Case c, museum.read_case("product"));
  const std::string real = folder.path() + "/real.cpp";
  const std::string link = folder.path() + "/link.cpp";
  TS_TRY(write_scratch(real, "// first\n"));
  if (symlink("real.cpp", link.c_str()) != 0) return fail(ErrorCode::io, "cannot make a symlink");
  c.source.files = c.source.editable = {real, link};
  const std::vector<std::string> diffs = {
      patch("../" + base_name(folder.path()) + "/real.cpp", "// first"),
      patch("x/../real.cpp", "// first"),
      fmt::format("--- {0}\n+++ {0}\n@@ -1 +1,2 @@\n // first\n+// more\n", real),
      patch("link.cpp", "// first"),
      "diff --git a/real.cpp b/real.cpp\nGIT binary patch\nliteral 1\nAc$\n",
      "--- /dev/null\n+++ b/new.cpp\n@@ -0,0 +1 @@\n+int x;\n"};
  for (const char* what : {"cheat", "again"}) {
    bool ok = true;
    std::string found;
    for (const std::string& diff : diffs) {
      const auto patched = patched_sources(c, diff);
      ok = ok && !patched;
      found += (found.empty() ? "" : "; ") + (patched ? "applied: " + diff : patched.error().message);
    }
    add(result, what, ok, found);
  }
  const auto honest = patched_sources(c, patch("real.cpp", "// first"));
  add(result, "twin", honest.has_value(), honest ? "applied" : honest.error().line());
  add(result, "control", honest && honest->at(real) == "// first\n// one line more\n",
      "the same hunk under the file's own name");
  return result;
}

/// D6
Result<MuseumResult> flags(Museum& museum, const MuseumEntry&, std::uint64_t seed) {
  MuseumResult result;
  const FlagFolders folders{museum.folder() + "/cases", {museum.folder()}};
  const std::vector<std::string> bad = {"-fplugin=/tmp/x.so",
                                        "@/tmp/flags",
                                        "-include/etc/passwd",
                                        "-include",
                                        "-imacros/etc/passwd",
                                        "-Wl,--wrap=memcpy",
                                        "-Wl,-rpath,/tmp",
                                        "-B/tmp",
                                        "-specs=/tmp/x",
                                        "-o/tmp/x",
                                        "-fuse-ld=/tmp/ld",
                                        "-Xlinker",
                                        "-wrapper",
                                        "-I/etc",
                                        "-L/tmp",
                                        "-fdump-tree-all=/tmp/x",
                                        "-DX=$(touch x)",
                                        "-fprofile-use=/tmp/x"};
  const std::vector<std::string> good = {"-O3",      "-march=native", "-ffast-math", "-funroll-loops",
                                         "-DNAME=1", "-mavx2",        "-I."};
  const auto refused = [&](const std::string& flag) { return !check_flag(flag, FlagUse::compile, folders); };
  for (const char* what : {"cheat", "again"}) {
    const auto let_in = std::find_if_not(bad.begin(), bad.end(), refused);
    add(result, what, let_in == bad.end(),
        let_in == bad.end() ? fmt::format("{} flags refused", bad.size()) : "let in: " + *let_in);
  }
  const auto held = std::find_if(good.begin(), good.end(), refused);
  add(result, "twin", held == good.end(),
      held == good.end() ? fmt::format("{} flags let in", good.size()) : "refused: " + *held);
  Case c;
  TS_ASSIGN(c, museum.read_case("product"));
  c.flags.emplace_back("-Wl,-soname,forged");
  bench::BenchOptions options;
  options.input_seed = seed;
  TS_ASSIGN(const auto bench, bench::make_bench(c, options));
  TS_ASSIGN(const Candidate candidate, museum.candidate(c, "fast", ""));
  const bench::Built built = bench->build(std::span(&candidate, 1)).front();
  const auto library = built.library.empty() ? Result<std::string>(std::string()) : read_file(built.library);
  add(result, "control", library && library->find("forged") != std::string::npos,
      "the linker has written what the flag said");
  return result;
}

/// D6d
Result<MuseumResult> shell_words(Museum& museum, const MuseumEntry&, std::uint64_t) {
  MuseumResult result;
  TS_ASSIGN(const TempDir folder, TempDir::make("tunesmith-museum-"));
  TS_ASSIGN(std::string text, read_file(museum.folder() + "/cases/softmax.json"));
  for (std::size_t at = text.find("../kernels"); at != std::string::npos; at = text.find("../kernels")) {
    text.replace(at, 10, museum.folder() + "/kernels");
  }
  const std::string mark = "\"ZEROS\": [false, true]";
  const std::size_t at = text.find(mark);
  if (at == std::string::npos)
    return fail(ErrorCode::internal, "the museum's softmax case has no parameter ZEROS");
  const auto with = [&](const std::string& value) -> Result<Case> {
    std::string changed = text;
    changed.replace(at, mark.size(), mark + ", \"WORD\": [" + json::serialize(json::string(value)) + "]");
    const std::size_t baseline = changed.find("\"config\": {");
    changed.insert(baseline + 11, "\"WORD\": " + json::serialize(json::string(value)) + ", ");
    TS_TRY(write_scratch(folder.path() + "/case.json", changed));
    return load_case(folder.path() + "/case.json");
  };
  const std::string run = "1;touch owned";
  const std::vector<std::string> bad = {run, "$(id)", "`id`", "1 -fplugin=x", "1\n#include", "a\"b",
                                        "'", "|",     "&",    "../x",         "x>y",         ""};
  for (const char* what : {"cheat", "again"}) {
    bool ok = true;
    std::string found = fmt::format("{} values refused", bad.size());
    for (const std::string& value : bad) {
      const auto loaded = with(value);
      const bool refused = !loaded && loaded.error().message.find("cannot be a macro") != std::string::npos;
      if (!refused) found = "\"" + printable(value) + "\": " + (loaded ? "let in" : loaded.error().line());
      ok = ok && refused;
    }
    add(result, what, ok, found);
  }
  const auto honest = with("plain_word-1.5");
  add(result, "twin", honest.has_value(), honest ? "a plain word is let in" : honest.error().line());
  // What the check keeps out is real: a shell runs it, a program started without one gets it as a word.
  os::Command plain, shell;
  plain.argv = {"/bin/echo", "-DWORD=" + run};
  shell.argv = {"/bin/sh", "-c", "/bin/echo -DWORD=" + run};
  plain.environment = shell.environment = {"PATH=/usr/bin:/bin"};
  plain.working_folder = shell.working_folder = folder.path();
  const os::Finished word = os::run(plain);
  const bool harmless =
      word.ok() && !exists(folder.path() + "/owned") && word.output == "-DWORD=" + run + "\n";
  const os::Finished owned = os::run(shell);
  add(result, "control", harmless && owned.ok() && exists(folder.path() + "/owned"),
      "a shell would have run the value");
  return result;
}

/// D7d
Result<MuseumResult> flood(Museum& museum, const MuseumEntry& entry, std::uint64_t seed) {
  MuseumResult result;
  TS_ASSIGN(Museum::Hall* const hall, museum.hall("product", seed, {}));
  TS_ASSIGN(const Candidate cheat, museum.candidate(hall->c, entry.cheat, ""));
  TS_ASSIGN(const std::string identity, hall->bench->identity(cheat));
  const std::string log = fmt::format("{}/logs/{}.run.log", museum.log_folder(), identity.substr(0, 16));
  for (const char* what : {"cheat", "again"}) {
    TS_ASSIGN(const Museum::Outcome caught, museum.measure(*hall, cheat));
    struct stat info {};
    const bool there = stat(log.c_str(), &info) == 0;
    add(result, what,
        caught.reason == Reason::crashed && there &&
            static_cast<std::uint64_t>(info.st_size) <= hall->c.limits.output_bytes,
        fmt::format("{}; its log holds {} bytes", caught.text, there ? info.st_size : -1));
  }
  TS_ASSIGN(const Candidate twin, museum.candidate(hall->c, "fast", ""));
  TS_ASSIGN(const Museum::Outcome honest, museum.measure(*hall, twin));
  add(result, "twin", honest.accepted, honest.text);
  Museum::Hall nowhere;
  nowhere.c = hall->c;
  bench::BenchOptions options;
  options.input_seed = seed;
  options.maximum_pairs = 40;
  TS_ASSIGN(nowhere.bench, bench::make_bench(nowhere.c, options));
  TS_TRY(nowhere.bench->open());
  TS_ASSIGN(const Museum::Outcome passed, museum.measure(nowhere, cheat));
  add(result, "control", passed.accepted, passed.text);
  return result;
}

/// E1
Result<MuseumResult> not_loaded(Museum& museum, const MuseumEntry&, std::uint64_t seed) {
  MuseumResult result;
  // Opening it has run the canaries: a wrong mutant failed and a slow one showed.
  TS_ASSIGN(Museum::Hall* const hall, museum.hall("product", seed, {}));
  TS_ASSIGN(const Candidate wrong, museum.candidate(hall->c, "small_only", ""));
  TS_ASSIGN(const Candidate slow, museum.candidate(hall->c, "twice", ""));
  TS_ASSIGN(const Candidate baseline, museum.candidate(hall->c, "slow", ""));
  for (const char* what : {"cheat", "again"}) {
    TS_ASSIGN(const Museum::Outcome fails, museum.measure(*hall, wrong));
    TS_ASSIGN(const Museum::Outcome shows, museum.measure(*hall, slow));
    add(result, what,
        fails.reason == Reason::wrong_result && shows.accepted && shows.comparison == Comparison::slower,
        fails.text + "; slow: " + shows.text);
  }
  TS_ASSIGN(const Museum::Outcome honest, museum.measure(*hall, baseline));
  add(result, "twin", honest.accepted && honest.comparison != Comparison::faster, honest.text);
  // Another library than the candidate's own is loaded: the wrong one passes and the slow one is not slow.
  // What was built and what was measured are told apart by the library's hash.
  const bench::Built mine = hall->bench->build(std::span(&wrong, 1)).front();
  const bench::Built theirs = hall->bench->build(std::span(&baseline, 1)).front();
  const Evidence mixed = hall->bench->measure(wrong, theirs);
  add(result, "control",
      mixed.rejection == Reason::none && mine.evidence.library_sha256 != theirs.evidence.library_sha256 &&
          mixed.build.library_sha256 == theirs.evidence.library_sha256,
      fmt::format("the baseline under a wrong candidate's name: {}", name_of(mixed.comparison)));
  return result;
}

/// E2
Result<MuseumResult> nothing_new(Museum& museum, const MuseumEntry&, std::uint64_t) {
  MuseumResult result;
  TS_ASSIGN(const Case c, museum.read_case("product"));
  TS_ASSIGN(const Candidate plain, museum.candidate(c, "fast", ""));
  TS_ASSIGN(const Candidate comment, museum.candidate(c, "fast", "/* much  faster */   // really"));
  TS_ASSIGN(const Candidate changed, museum.candidate(c, "fast", "static const int museum_new = 1;"));
  TS_ASSIGN(const std::string first, candidate_identity(c, plain, "compiler"));
  for (const char* what : {"cheat", "again"}) {
    TS_ASSIGN(const std::string second, candidate_identity(c, comment, "compiler"));
    add(result, what, first == second,
        first == second ? "DUPLICATE: the same identity" : "taken for a new program");
  }
  TS_ASSIGN(const std::string third, candidate_identity(c, changed, "compiler"));
  add(result, "twin", first != third, "a line of code is a new program");
  TS_ASSIGN(const auto before, patched_sources(c, plain.diff));
  TS_ASSIGN(const auto after, patched_sources(c, comment.diff));
  const std::string& file = c.source.files.front();
  add(result, "control", sha256_hex(before.at(file)) != sha256_hex(after.at(file)),
      "the texts differ byte by byte");
  return result;
}

struct Harness {
  std::string_view id;
  Result<MuseumResult> (*run)(Museum& museum, const MuseumEntry& entry, std::uint64_t seed);
};

constexpr Harness k_table[] = {
    {"A1", lint},        {"A3", lint},         {"A9", held_out},       {"B5", no_time}, {"D1", foreign_edit},
    {"D6", flags},       {"D6d", shell_words}, {"D6e", foreign_paths}, {"D7d", flood},  {"E1", not_loaded},
    {"E2", nothing_new}, {"E4", no_evidence},  {"E6", infra},
};

}  // namespace

Result<MuseumResult> run_harness(Museum& museum, const MuseumEntry& entry, std::uint64_t seed) {
  for (const Harness& harness : k_table) {
    if (harness.id == entry.id) return harness.run(museum, entry, seed);
  }
  return fail(ErrorCode::internal, fmt::format("the museum has no harness for {}", entry.id));
}

}  // namespace tunesmith::app
