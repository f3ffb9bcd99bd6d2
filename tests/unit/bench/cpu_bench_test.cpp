#include "bench/cpu_bench.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/tiny_case.h"

namespace tunesmith::bench {
namespace {

/// The machine's facts go into a folder of these tests' own.
class OwnCache : public testing::Environment {
 public:
  void SetUp() override {
    auto made = TempDir::make();
    ASSERT_TRUE(made);
    m_folder.emplace(std::move(*made));
    setenv("XDG_CACHE_HOME", m_folder->path().c_str(), 1);
  }
  void TearDown() override { m_folder.reset(); }

 private:
  std::optional<TempDir> m_folder;
};
[[maybe_unused]] const testing::Environment* const s_own_cache =
    testing::AddGlobalTestEnvironment(new OwnCache);

/// An opened bench over a case; the case must outlive it.
struct Opened {
  Case c;
  std::unique_ptr<Bench> bench;
  Opening opening;

  explicit Opened(TinyCase& tiny, BenchOptions options = quick()) : c(tiny.load()) {
    auto made = make_bench(c, options);
    if (!made) {
      ADD_FAILURE() << made.error().line();
      std::abort();
    }
    bench = std::move(*made);
    auto open = bench->open();
    if (!open) {
      ADD_FAILURE() << open.error().line();
      std::abort();
    }
    opening = std::move(*open);
  }
  static BenchOptions quick() {
    BenchOptions options;
    options.maximum_pairs = 40;
    options.confirm_pairs = 32;
    return options;
  }
  Evidence measure(const Candidate& candidate) {
    return bench->measure(candidate, bench->build(std::span(&candidate, 1)).front());
  }
};

/// The line with which a case is refused at opening.
std::string refusal(TinyCase& tiny) {
  const Case c = tiny.load();
  auto bench = make_bench(c, Opened::quick());
  if (!bench) return bench.error().line();
  const auto open = (*bench)->open();
  return open ? "" : open.error().line();
}

#define EXPECT_REJECTED(evidence, want, words)                                                      \
  do {                                                                                              \
    const Evidence evidence_of_it = (evidence);                                                     \
    EXPECT_EQ(code_of(evidence_of_it.rejection), code_of(want)) << evidence_of_it.rejection_detail; \
    EXPECT_NE(evidence_of_it.rejection_detail.find(words), std::string::npos)                       \
        << evidence_of_it.rejection_detail;                                                         \
    EXPECT_FALSE(evidence_of_it.infra);                                                             \
    EXPECT_NE(evidence_of_it.comparison, Comparison::faster);                                       \
  } while (false)

/// One bench for all tests that need nothing special of the case.
class CpuBenchTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    s_tiny = new TinyCase;
    s_opened = new Opened(*s_tiny);
  }
  static void TearDownTestSuite() {
    delete s_opened;
    delete s_tiny;
    s_opened = nullptr;
    s_tiny = nullptr;
  }
  static Evidence measure(int order, int unroll = 1, int fault = 0) {
    return s_opened->measure(tiny_config(s_opened->c, order, unroll, fault));
  }
  static inline TinyCase* s_tiny = nullptr;
  static inline Opened* s_opened = nullptr;
};

TEST_F(CpuBenchTest, OpeningTellsTheBaselineAndTheLayers) {
  const Evidence& baseline = s_opened->opening.baseline;
  ASSERT_EQ(baseline.shapes.size(), 1U);
  EXPECT_TRUE(baseline.shapes[0].check.passed);
  EXPECT_GT(baseline.shapes[0].timing.latency_ms, 0);
  EXPECT_GT(baseline.shapes[0].timing.cpu_ms, 0);
  EXPECT_GE(baseline.shapes[0].timing.pairs, 8);
  EXPECT_EQ(baseline.rejection, Reason::none);
  EXPECT_NE(s_opened->opening.toolchain.find("g++"), std::string::npos);
  EXPECT_FALSE(s_opened->opening.isolation.empty());
  EXPECT_TRUE(s_opened->opening.notes.empty()) << s_opened->opening.notes.front();
}

TEST_F(CpuBenchTest, AFasterKernelIsFaster) {
  const Evidence evidence = measure(0);
  EXPECT_EQ(evidence.rejection, Reason::none) << evidence.rejection_detail;
  EXPECT_EQ(evidence.comparison, Comparison::faster);
  EXPECT_LT(evidence.log_ratio, -std::log(2));
  EXPECT_EQ(evidence.log_ratio_to_baseline, evidence.log_ratio);
  ASSERT_EQ(evidence.shapes.size(), 1U);
  EXPECT_TRUE(evidence.shapes[0].check.passed);
  EXPECT_GT(evidence.shapes[0].check.executed, 8);  // outputs of timed calls as well
  EXPECT_LT(evidence.shapes[0].check.max_abs_error, 1e-3);
  EXPECT_EQ(evidence.shapes[0].timing.clock, "cpu");
  EXPECT_EQ(evidence.shapes[0].timing.mode, "warm");
  EXPECT_EQ(static_cast<int>(evidence.shapes[0].timing.samples.size()), evidence.shapes[0].timing.pairs);
  EXPECT_GT(evidence.peak_memory_bytes, 0U);
  EXPECT_GT(evidence.overhead_cpu_ms, 0);
  EXPECT_FALSE(evidence.isolation.empty());
}

TEST_F(CpuBenchTest, AnIdenticalKernelUnderAnotherNameIsNotFaster) {
  const Evidence evidence = measure(1, 2);
  EXPECT_EQ(evidence.rejection, Reason::none) << evidence.rejection_detail;
  EXPECT_NE(evidence.comparison, Comparison::faster);
  EXPECT_LT(std::fabs(evidence.log_ratio), std::log(1.5));
}

TEST_F(CpuBenchTest, IdentityFollowsTheConfiguration) {
  const auto one = s_opened->bench->identity(tiny_config(s_opened->c, 0));
  const auto same = s_opened->bench->identity(tiny_config(s_opened->c, 0));
  const auto other = s_opened->bench->identity(tiny_config(s_opened->c, 0, 2));
  ASSERT_TRUE(one && same && other);
  EXPECT_EQ(*one, *same);
  EXPECT_NE(*one, *other);
}

TEST_F(CpuBenchTest, WrongResultsAreRejectedHoweverFast) {
  EXPECT_REJECTED(measure(0, 1, 1), Reason::wrong_result,
                  "shape m=48 n=48 k=48: c: 1 of 2304 elements are wrong");
  EXPECT_REJECTED(measure(0, 1, 6), Reason::nan_mismatch, "first [3]");
  EXPECT_REJECTED(measure(0, 1, 5), Reason::stale_output, "48 of 2304 elements were never written");
}

TEST_F(CpuBenchTest, ANondeterministicKernelIsRejected) {
  EXPECT_REJECTED(measure(0, 1, 3), Reason::nondeterministic, "different bits");
}

TEST_F(CpuBenchTest, ACrashIsTheCandidatesAndTheBenchGoesOn) {
  EXPECT_REJECTED(measure(0, 1, 4), Reason::crashed, "SIGSEGV");
  EXPECT_EQ(measure(0).comparison, Comparison::faster);
}

TEST_F(CpuBenchTest, AMuchSlowerKernelIsGivenUpEarly) {
  Candidate fast = tiny_config(s_opened->c, 0);
  const Built built = s_opened->bench->build(std::span(&fast, 1)).front();
  ASSERT_TRUE(s_opened->bench->set_incumbent(&fast, &built, -1.5));
  const Evidence slow = measure(1);
  EXPECT_EQ(slow.comparison, Comparison::slower);
  EXPECT_GT(slow.log_ratio, std::log(2));
  EXPECT_LE(slow.shapes[0].timing.pairs, 3);
  EXPECT_NEAR(slow.log_ratio_to_baseline, slow.log_ratio - 1.5, 1e-12);
  ASSERT_TRUE(s_opened->bench->set_incumbent(nullptr, nullptr, 0));
  EXPECT_EQ(measure(0).comparison, Comparison::faster);  // the baseline is the incumbent again
}

TEST_F(CpuBenchTest, AnIncumbentWhoseLibraryIsGoneIsBuiltAgain) {
  Candidate fast = tiny_config(s_opened->c, 0, 2);
  ASSERT_TRUE(s_opened->bench->set_incumbent(&fast, nullptr, -1));
  EXPECT_EQ(measure(1).comparison, Comparison::slower);
  ASSERT_TRUE(s_opened->bench->set_incumbent(nullptr, nullptr, 0));
}

TEST_F(CpuBenchTest, ADiffThatTouchesWhatItMayNotIsRefusedAndNothingIsBuilt) {
  Candidate candidate = tiny_config(s_opened->c, 0);
  candidate.diff = "--- a/other.cpp\n+++ b/other.cpp\n@@ -1,1 +1,1 @@\n-a\n+b\n";
  const Built built = s_opened->bench->build(std::span(&candidate, 1)).front();
  EXPECT_EQ(built.evidence.reason, Reason::forbidden_edit);
  EXPECT_REJECTED(s_opened->bench->measure(candidate, built), Reason::forbidden_edit, "other.cpp");
}

TEST_F(CpuBenchTest, ADiffThatDoesNotCompileIsABuildFailure) {
  Candidate candidate = tiny_config(s_opened->c, 0);
  candidate.diff =
      "--- a/kernel.cpp\n+++ b/kernel.cpp\n@@ -1,3 +1,3 @@\n #ifndef ORDER\n-#define ORDER 1\n+#define ORDER "
      "0\n #endif\n";
  const Built fine = s_opened->bench->build(std::span(&candidate, 1)).front();
  EXPECT_EQ(fine.evidence.outcome, BuildEvidence::Outcome::ok) << fine.evidence.detail;
  candidate.diff =
      "--- a/kernel.cpp\n+++ b/kernel.cpp\n@@ -1,3 +1,3 @@\n-#ifndef ORDER\n+int int;\n #define ORDER 1\n "
      "#endif\n";
  const Built broken = s_opened->bench->build(std::span(&candidate, 1)).front();
  EXPECT_EQ(broken.evidence.reason, Reason::build_failed) << broken.evidence.detail;
}

TEST_F(CpuBenchTest, SeveralBuildsComeBackInTheirOrder) {
  const std::vector<Candidate> candidates = {tiny_config(s_opened->c, 0), tiny_config(s_opened->c, 1, 2),
                                             tiny_config(s_opened->c, 2)};
  const auto built = s_opened->bench->build(candidates);
  ASSERT_EQ(built.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(built[i].evidence.identity, *s_opened->bench->identity(candidates[i]));
}

TEST_F(CpuBenchTest, ConfirmsAWinnerAgainstTheBaseline) {
  const Evidence evidence = s_opened->bench->confirm(tiny_config(s_opened->c, 0));
  EXPECT_EQ(evidence.rejection, Reason::none) << evidence.rejection_detail;
  EXPECT_TRUE(evidence.confirmed);
  EXPECT_EQ(evidence.comparison, Comparison::faster);
  EXPECT_LT(evidence.log_ratio_to_baseline, -std::log(2));
  EXPECT_GE(evidence.shapes[0].timing.pairs, 32);
  EXPECT_TRUE(evidence.shapes[0].check.passed);
}

TEST_F(CpuBenchTest, ABugOnHeldOutShapesIsFoundByTheConfirmationAlone) {
  const Candidate candidate = tiny_config(s_opened->c, 0, 1, 2);
  EXPECT_EQ(s_opened->measure(candidate).comparison, Comparison::faster);
  EXPECT_REJECTED(s_opened->bench->confirm(candidate), Reason::wrong_result,
                  "on a held-out shape: shape m=5 n=7 k=9");
}

TEST(BenchOpenTest, ABaselineThatFailsItsOwnCheckRefusesToOpen) {
  TinyCase tiny;
  tiny.set("/baseline/config/FAULT", "1");
  const std::string line = refusal(tiny);
  EXPECT_NE(line.find("the baseline fails its own check (WRONG_RESULT)"), std::string::npos) << line;
  EXPECT_NE(line.find("/baseline"), std::string::npos) << line;
}

TEST(BenchOpenTest, ABaselineThatDoesNotBuildRefusesToOpen) {
  TinyCase tiny;
  tiny.write("kernel.cpp", "int nonsense");
  const std::string line = refusal(tiny);
  EXPECT_NE(line.find("the baseline does not build"), std::string::npos) << line;
}

TEST(BenchOpenTest, ABaselineThatCrashesRefusesToOpen) {
  TinyCase tiny;
  tiny.set("/baseline/config/FAULT", "4");
  EXPECT_NE(refusal(tiny).find("SIGSEGV"), std::string::npos);
}

TEST(BenchOpenTest, AWorthlessToleranceRefusesToOpen) {
  TinyCase tiny;
  tiny.set("/tolerance", R"({"absolute": 1000})");
  const std::string line = refusal(tiny);
  EXPECT_NE(line.find("the tolerance is worthless"), std::string::npos) << line;
  EXPECT_NE(line.find("all zeros"), std::string::npos) << line;
}

TEST(BenchOpenTest, AnUnknownBackendOrDefenceIsNamed) {
  TinyCase tiny;
  Case c = tiny.load();
  BenchOptions options;
  options.defences_off = {"everything"};
  const auto none = make_bench(c, options);
  ASSERT_FALSE(none);
  c.backend = "abacus";
  const auto bench = make_bench(c, {});
  ASSERT_FALSE(bench);
  EXPECT_NE(bench.error().line().find("abacus"), std::string::npos);
  EXPECT_NE(bench.error().line().find("cpu"), std::string::npos);
}

TEST(BenchOpenTest, ASwitchedOffDefenceIsToldAndLetsItsCheatPass) {
  TinyCase tiny;
  BenchOptions options = Opened::quick();
  options.defences_off = {"determinism"};
  Opened opened(tiny, options);
  ASSERT_EQ(opened.opening.notes.size(), 1U);
  EXPECT_NE(opened.opening.notes[0].find("determinism"), std::string::npos);
  const Evidence evidence = opened.measure(tiny_config(opened.c, 0, 1, 3));
  EXPECT_EQ(evidence.rejection, Reason::none) << evidence.rejection_detail;
}

TEST(BenchCaseTest, AShapeThatGetsSlowerVetoesTheRest) {
  TinyCase tiny;
  tiny.set("/shapes",
           R"([{"m": 64, "n": 64, "k": 64, "weight": 50}, {"m": 32, "n": 32, "k": 32, "weight": 1}])");
  Opened opened(tiny);
  const Evidence evidence = opened.measure(tiny_config(opened.c, 2));
  EXPECT_EQ(evidence.rejection, Reason::none) << evidence.rejection_detail;
  ASSERT_EQ(evidence.shapes.size(), 2U);
  EXPECT_EQ(evidence.shapes[0].timing.comparison, Comparison::faster);
  EXPECT_EQ(evidence.shapes[1].timing.comparison, Comparison::slower);
  EXPECT_LT(evidence.log_ratio, 0);  // by weight it would be a gain
  EXPECT_NE(evidence.comparison, Comparison::faster);
  const Evidence both = opened.measure(tiny_config(opened.c, 0));
  EXPECT_EQ(both.comparison, Comparison::faster) << both.rejection_detail;
}

TEST(BenchCaseTest, AReferenceOfOnesOwnRunsInFloat64) {
  TinyCase tiny;
  // A sum that f32 gets wrong by far more than the tolerance, so that only the float64 reference agrees with
  // a careful kernel.
  tiny.write("reference.cpp",
             "#ifndef real\n#define real float\n#endif\n"
             "extern \"C\" void exact(const real* a, const real* b, real* c, int m, int n, int k) {\n"
             "  for (int i = 0; i < m; ++i) for (int j = 0; j < n; ++j) { real s = 1e8; for (int p = 0; p < "
             "k; ++p) s += a[i*k+p] * b[p*n+j]; c[i*n+j] = s - (real)1e8; }\n}\n");
  tiny.set("/reference", R"({"source": {"language": "c++", "files": ["reference.cpp"], "entry": "exact"}})");
  Opened opened(tiny);
  EXPECT_LT(opened.opening.baseline.shapes[0].check.max_abs_error, 1e-3);
  EXPECT_EQ(opened.measure(tiny_config(opened.c, 0)).comparison, Comparison::faster);
  EXPECT_REJECTED(opened.measure(tiny_config(opened.c, 0, 1, 1)), Reason::wrong_result, "1 of 2304");
}

TEST(BenchCaseTest, AReferenceThatDoesNotCompileIsNamed) {
  TinyCase tiny;
  tiny.write("reference.cpp", "extern \"C\" void exact() { syntax error }\n");
  tiny.set("/reference", R"({"source": {"language": "c++", "files": ["reference.cpp"], "entry": "exact"}})");
  const std::string line = refusal(tiny);
  EXPECT_NE(line.find("the reference does not compile: reference.cpp:1:"), std::string::npos) << line;
}

TEST(BenchCaseTest, AnotherSourceOrALibraryCanBeTheBaseline) {
  TinyCase tiny;
  tiny.write("theirs.cpp",
             "#include <cmath>\nextern \"C\" void theirs(const float* a, const float* b, float* c, int m, "
             "int n, int k) {\n"
             "  for (int i = 0; i < m; ++i) for (int j = 0; j < n; ++j) { volatile float s = 0; for (int p = "
             "0; p < k; ++p) s = std::fma(a[i*k+p], b[p*n+j], s); c[i*n+j] = s; }\n}\n");
  tiny.set(
      "/baseline",
      R"({"source": {"language": "c++", "files": ["theirs.cpp"], "entry": "theirs", "flags": ["-lm"]}, "label": "theirs"})");
  Opened opened(tiny);
  EXPECT_EQ(opened.measure(tiny_config(opened.c, 0)).comparison, Comparison::faster);
  EXPECT_EQ(opened.bench->confirm(tiny_config(opened.c, 0)).comparison, Comparison::faster);
}

TEST(BenchCaseTest, OpenBlasIsABaselineWhereItIsInstalled) {
  if (!exists("/usr/lib/x86_64-linux-gnu/libopenblas.so")) GTEST_SKIP() << "libopenblas-dev is not installed";
  TinyCase tiny;
  tiny.write("blas.cpp",
             "extern \"C\" void cblas_sgemm(int, int, int, int, int, int, float, const float*, int, const "
             "float*, int, float, float*, int);\n"
             "extern \"C\" void blas(const float* a, const float* b, float* c, int m, int n, int k) { "
             "cblas_sgemm(101, 111, 111, m, n, k, 1, a, k, b, n, 0, c, n); }\n");
  tiny.set(
      "/baseline",
      R"({"source": {"language": "c++", "files": ["blas.cpp"], "entry": "blas", "flags": ["-lopenblas"]}, "label": "OpenBLAS"})");
  Opened opened(tiny);
  EXPECT_EQ(opened.measure(tiny_config(opened.c, 1)).comparison, Comparison::slower);
}

TEST(BenchCaseTest, AnInoutBufferIsRestoredBeforeEachCall) {
  TinyCase tiny;
  tiny.write(
      "kernel.cpp",
      "#ifndef ORDER\n#define ORDER 1\n#endif\nextern \"C\" void add(const float* x, float* y, int n) {\n"
      "  for (int r = 0; r < (ORDER == 1 ? 240 : 20); ++r) { for (int i = 0; i < n; ++i) y[i] = y[i] + "
      "(ORDER "
      "== 1 ? x[i] / 240 : x[i] / 20); __asm__ volatile(\"\" : : : \"memory\"); }\n}\n");
  tiny.write("reference.cpp",
             "extern \"C\" void exact(const real* x, real* y, int n) { for (int i = 0; i < n; ++i) y[i] += "
             "x[i]; }\n");
  tiny.set("/source/entry", "\"add\"")
      .set("/reference", R"({"source": {"language": "c++", "files": ["reference.cpp"], "entry": "exact"}})");
  tiny.set("/dimensions", R"(["n"])")
      .set("/shapes", R"([{"n": 20000}])")
      .set("/held_out_shapes", R"([{"n": 1001}])");
  tiny.set(
      "/arguments",
      R"([{"name": "x", "buffer": "f32", "shape": ["n"], "role": "in"}, {"name": "y", "buffer": "f32", "shape": ["n"], "role": "inout"},
                             {"name": "n", "scalar": "i32", "value": "n"}])");
  tiny.set("/work", R"({"flops": "n", "bytes": "12*n"})");
  Opened opened(tiny);
  const Evidence evidence = opened.measure(tiny_config(opened.c, 0));
  EXPECT_EQ(evidence.rejection, Reason::none) << evidence.rejection_detail;
  EXPECT_EQ(evidence.comparison, Comparison::faster);
  EXPECT_EQ(opened.bench->confirm(tiny_config(opened.c, 0)).rejection, Reason::none);
}

/// A product of other types: the kernel is generated for them.
TinyCase typed_case(const std::string& in, const std::string& out, const std::string& c_in,
                    const std::string& c_out, const std::string& load, const std::string& store,
                    const std::string& tolerance) {
  TinyCase tiny;
  tiny.write(
      "kernel.cpp",
      "#ifndef ORDER\n#define ORDER 1\n#endif\n#ifndef FAULT\n#define FAULT 0\n#endif\n#include <string.h>\n"
      "typedef " +
          c_in + " in_t;\ntypedef " + c_out + " out_t;\n" + load + store +
          "static void work(const in_t* a, const in_t* b, out_t* c, int m, int n, int k) {\n"
          "  for (int i = 0; i < m; ++i) for (int j = 0; j < n; ++j) { acc_t s = 0; for (int p = 0; p < k; "
          "++p) s += load(a[i*k+p]) * load(b[p*n+j]); c[i*n+j] = store(s); }\n}\n"
          "extern \"C\" void product(const in_t* a, const in_t* b, out_t* c, int m, int n, int k) {\n"
          "  for (int r = 0; r < (ORDER == 1 ? 5 : 1); ++r) { work(a, b, c, m, n, k); __asm__ volatile(\"\" "
          ": : : \"memory\"); }\n"
          "  if (FAULT == 1) c[7] = store((acc_t)(load(0) + 1000));\n}\n");
  for (const char* argument : {"/arguments/0/buffer", "/arguments/1/buffer"})
    tiny.set(argument, "\"" + in + "\"");
  if (in == "i8") {
    for (const char* argument : {"/arguments/0/fill", "/arguments/1/fill"})
      tiny.set(argument, R"({"kind": "integers", "low": -127, "high": 127})");
  }
  tiny.set("/arguments/2/buffer", "\"" + out + "\"")
      .set("/tolerance", tolerance)
      .set("/dtype", "\"" + in + "\"");
  return tiny;
}

void expect_judged(TinyCase tiny, double greatest_error) {
  Opened opened(tiny);
  EXPECT_LE(opened.opening.baseline.shapes[0].check.max_abs_error, greatest_error);
  EXPECT_EQ(opened.measure(tiny_config(opened.c, 0)).comparison, Comparison::faster);
  EXPECT_REJECTED(opened.measure(tiny_config(opened.c, 0, 1, 1)), Reason::wrong_result, "first [7]");
}

TEST(BenchCaseTest, DoublePrecisionIsCheckedToDoublePrecision) {
  expect_judged(typed_case("f64", "f64", "double", "double",
                           "typedef double acc_t;\nstatic double load(double x) { return x; }\n",
                           "static double store(double x) { return x; }\n", R"({"absolute": 1e-12})"),
                1e-12);
}

TEST(BenchCaseTest, IntegersAreExactToTheBit) {
  TinyCase tiny = typed_case(
      "i8", "i32", "signed char", "int", "typedef int acc_t;\nstatic int load(signed char x) { return x; }\n",
      "static int store(int x) { return x; }\n", R"({"absolute": 0, "bit_exact": true})");
  // The built-in references are for floats; whole numbers bring their own, which nothing widens.
  tiny.write(
      "reference.cpp",
      "extern \"C\" void exact(const signed char* a, const signed char* b, int* c, int m, int n, int k) {\n"
      "  for (int i = 0; i < m; ++i) for (int j = 0; j < n; ++j) { int s = 0; for (int p = 0; p < k; ++p) "
      "s += a[i*k+p] * b[p*n+j]; c[i*n+j] = s; }\n}\n");
  tiny.set("/reference", R"({"source": {"language": "c++", "files": ["reference.cpp"], "entry": "exact"}})");
  expect_judged(std::move(tiny), 0);
}

TEST(BenchCaseTest, Bf16GoesByItsBits) {
  expect_judged(typed_case("bf16", "bf16", "unsigned short", "unsigned short",
                           "typedef float acc_t;\nstatic float load(unsigned short x) { unsigned b = "
                           "(unsigned)x << 16; float f; memcpy(&f, &b, 4); return f; }\n",
                           "static unsigned short store(float x) { unsigned b; memcpy(&b, &x, 4); b += "
                           "0x7FFFu + ((b >> 16) & 1u); return (unsigned short)(b >> 16); }\n",
                           R"({"absolute": 0.1})"),
                0.1);
}

TEST(BenchCaseTest, AKernelInCIsBuiltByTheCCompiler) {
  TinyCase tiny;
  tiny.write("kernel.c",
             std::string(k_tiny_kernel) + "\nstatic int class, new;\n");  // not C++
  tiny.set("/source",
           R"({"language": "c", "files": ["kernel.c"], "entry": "product", "editable": ["kernel.c"]})");
  Opened opened(tiny);
  EXPECT_NE(opened.opening.toolchain.find("gcc"), std::string::npos) << opened.opening.toolchain;
  EXPECT_EQ(opened.measure(tiny_config(opened.c, 0)).comparison, Comparison::faster);
}

TEST(BenchCaseTest, TheColdClockFlushesTheCachesAndSaysSo) {
  TinyCase tiny;
  tiny.set("/clock", "\"cold\"");
  Opened opened(tiny);
  const Evidence evidence = opened.measure(tiny_config(opened.c, 0));
  EXPECT_EQ(evidence.rejection, Reason::none) << evidence.rejection_detail;
  EXPECT_EQ(evidence.shapes[0].timing.mode, "cold");
  EXPECT_EQ(evidence.shapes[0].timing.calls_per_sample, 1);
  EXPECT_EQ(evidence.comparison, Comparison::faster);
}

TEST(BenchCaseTest, AParameterInAFlagReachesTheCompiler) {
  TinyCase tiny;
  tiny.set("/flags", R"(["-O{LEVEL}", "-march=native"])")
      .set("/parameters", R"({"LEVEL": [0, 3]})")
      .set("/baseline", R"({"config": {"LEVEL": 0}})");
  tiny.write("kernel.cpp", "#define ORDER 0\n" + std::string(k_tiny_kernel));
  Opened opened(tiny);
  EXPECT_EQ(opened.measure(config_of(opened.c, R"({"LEVEL": 3})")).comparison, Comparison::faster);
}

TEST(BenchCaseTest, TheStopFlagEndsAMeasurement) {
  TinyCase tiny;
  std::atomic<bool> stop = false;
  BenchOptions options = Opened::quick();
  options.stop = &stop;
  Opened opened(tiny, options);
  const Candidate candidate = tiny_config(opened.c, 0);
  const Built built = opened.bench->build(std::span(&candidate, 1)).front();
  stop = true;
  const Evidence evidence = opened.bench->measure(candidate, built);
  EXPECT_TRUE(evidence.infra);
  EXPECT_NE(evidence.comparison, Comparison::faster);
}

TEST(BenchCaseTest, ALogOfEachBuildAndRunLiesInTheRunFolder) {
  TinyCase tiny;
  auto folder = TempDir::make();
  ASSERT_TRUE(folder);
  BenchOptions options = Opened::quick();
  options.run_folder = folder->path();
  Opened opened(tiny, options);
  Candidate candidate = tiny_config(opened.c, 0);
  candidate.diff =
      "--- a/kernel.cpp\n+++ b/kernel.cpp\n@@ -1,3 +1,4 @@\n+#warning look here\n #ifndef ORDER\n #define "
      "ORDER 1\n #endif\n";
  const Built built = opened.bench->build(std::span(&candidate, 1)).front();
  ASSERT_EQ(built.evidence.outcome, BuildEvidence::Outcome::ok) << built.evidence.detail;
  const auto log = read_file(built.evidence.log_path);
  ASSERT_TRUE(log) << built.evidence.log_path;
  EXPECT_NE(log->find("look here"), std::string::npos);
  EXPECT_TRUE(built.evidence.log_path.starts_with(folder->path() + "/logs/"));
}

}  // namespace
}  // namespace tunesmith::bench
