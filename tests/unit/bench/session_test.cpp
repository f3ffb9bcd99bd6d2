#include "bench/session.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "bench/references.h"
#include "support/tiny_case.h"

namespace tunesmith::bench {
namespace {

/// Compiles a kernel body with the machine's compiler and serves it by a real worker in the sandbox.
class SessionTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = TempDir::make();
    ASSERT_TRUE(made);
    m_folder.emplace(std::move(*made));
    ASSERT_EQ(chmod(m_folder->path().c_str(), 0711), 0);
    m_tiny.set("/shapes", R"([{"m": 6, "n": 10, "k": 8}])");
  }

  std::string compile(const std::string& body) {
    const std::string source = m_folder->path() + "/k.cpp";
    const std::string library = m_folder->path() + "/k" + std::to_string(m_libraries++) + ".so";
    EXPECT_TRUE(write_scratch(
        source,
        "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <signal.h>\n#include "
        "<unistd.h>\n#include <xmmintrin.h>\n"
        "static int calls;\n"
        "static void multiply(const float* a, const float* b, float* c, int m, int n, int k) {\n"
        "  for (int i = 0; i < m; ++i) for (int j = 0; j < n; ++j) {\n"
        "    float s = 0; for (int p = 0; p < k; ++p) s += a[i * k + p] * b[p * n + j]; c[i * n + j] = s; "
        "}\n}\n"
        "extern \"C\" void tunesmith_call(void* const* arg) {\n"
        "  float *a = (float*)arg[0], *b = (float*)arg[1], *c = (float*)arg[2];\n"
        "  const int m = *(int*)arg[3], n = *(int*)arg[4], k = *(int*)arg[5];\n  ++calls;\n" +
            body + "\n}\n"));
    os::Command command;
    command.argv = {"/usr/bin/g++", "-O1", "-w", "-shared", "-fPIC", "-o", library, source};
    command.environment = {"PATH=/usr/bin:/bin"};
    const os::Finished built = os::run(command);
    EXPECT_TRUE(built.ok()) << built.output;
    return library;
  }

  void make_pool() {
    m_case = m_tiny.load();
    auto pool = InputPool::make(*m_case, m_case->shapes, 17, 4);
    ASSERT_TRUE(pool) << pool.error().line();
    ASSERT_TRUE(compute_builtin(*m_case, *pool));
    m_pool.emplace(std::move(*pool));
  }

  std::unique_ptr<Session> start(const std::string& body, SessionOptions options = {}) {
    if (!m_pool) make_pool();
    auto session = Session::start(*m_case, *m_pool, {compile(body), {}}, options);
    EXPECT_TRUE(session) << session.error().detail;
    return session ? std::move(*session) : nullptr;
  }

  /// One prepared, made and checked call; the first rejection.
  Rejection once(Session& session, std::size_t slot = 0, std::size_t set = 0) {
    if (auto rejection = session.prepare(0, slot, set)) return *rejection;
    if (auto times = session.call(0, slot, 1); !times) return times.error();
    CheckEvidence evidence;
    CompareRules rules;
    rules.tolerance = m_case->tolerance;
    if (auto rejection = session.check(0, slot, set, rules, evidence)) return *rejection;
    return {};
  }
  Rejection fate(const std::string& body, std::size_t slot = 0, SessionOptions options = {}) {
    const auto session = start(body, options);
    return session ? once(*session, slot) : Rejection{Reason::infra, "no session"};
  }

  TinyCase m_tiny;
  std::optional<Case> m_case;
  std::optional<InputPool> m_pool;
  std::optional<TempDir> m_folder;
  int m_libraries = 0;
};

#define EXPECT_FATE(got, want, words)                                                 \
  do {                                                                                \
    const Rejection fate_of_it = (got);                                               \
    EXPECT_EQ(code_of(fate_of_it.reason), code_of(want)) << fate_of_it.detail;        \
    EXPECT_NE(fate_of_it.detail.find(words), std::string::npos) << fate_of_it.detail; \
  } while (false)

TEST_F(SessionTest, ARightResultPassesInEverySlotAndForEverySet) {
  const auto session = start("multiply(a, b, c, m, n, k);");
  ASSERT_TRUE(session);
  for (std::size_t slot = 0; slot < session->slots(0); ++slot) {
    for (std::size_t set = 0; set < 3; ++set)
      EXPECT_EQ(once(*session, slot, set).reason, Reason::none) << slot << " " << set;
  }
  EXPECT_EQ(session->read_output(0, 0, 2).size(), 60U);
  EXPECT_GT(session->memory_bytes(), 0U);
  EXPECT_GE(session->overhead_cpu_ms(), 0);
}

TEST_F(SessionTest, SeveralCallsOfOneRequestFillTheirSlots) {
  const auto session = start("multiply(a, b, c, m, n, k);");
  ASSERT_TRUE(session);
  for (std::size_t i = 0; i < 4; ++i) ASSERT_FALSE(session->prepare(0, i, i % 3));
  ASSERT_TRUE(session->call(0, 0, 4, 4));
  CompareRules rules;
  rules.tolerance = m_case->tolerance;
  for (std::size_t i = 0; i < 4; ++i) {
    CheckEvidence evidence;
    EXPECT_FALSE(session->check(0, i, i % 3, rules, evidence));
    EXPECT_EQ(evidence.executed, 1);
    EXPECT_LT(evidence.max_abs_error, 1e-3);
  }
}

TEST_F(SessionTest, TheSameInputsGiveTheSameHashAndOthersAnother) {
  const auto session = start("multiply(a, b, c, m, n, k);");
  ASSERT_TRUE(session);
  ASSERT_EQ(once(*session, 0, 0).reason, Reason::none);
  ASSERT_EQ(once(*session, 1, 0).reason, Reason::none);
  ASSERT_EQ(once(*session, 2, 1).reason, Reason::none);
  EXPECT_EQ(session->output_hash(0, 0), session->output_hash(0, 1));
  EXPECT_NE(session->output_hash(0, 0), session->output_hash(0, 2));
}

TEST_F(SessionTest, AWrongElementIsNamed) {
  EXPECT_FATE(fate("multiply(a, b, c, m, n, k); c[17] += 1;"), Reason::wrong_result,
              "c: 1 of 60 elements are wrong, first [17]");
}

TEST_F(SessionTest, AnElementNeverWrittenIsStale) {
  EXPECT_FATE(fate("multiply(a, b, c, m - 1, n, k);"), Reason::stale_output,
              "10 of 60 elements were never written");
  EXPECT_FATE(fate(""), Reason::stale_output, "60 of 60");
}

TEST_F(SessionTest, AResultOfEarlierInputsIsStale) {
  const auto session = start(
      "static float kept[60]; if (calls == 1) multiply(a, b, kept, m, n, k); for (int i = 0; i < 60; ++i) "
      "c[i] = kept[i];");
  ASSERT_TRUE(session);
  EXPECT_EQ(once(*session, 0, 0).reason, Reason::none);
  EXPECT_FATE(once(*session, 0, 1), Reason::stale_output, "earlier inputs");
}

TEST_F(SessionTest, ANanIsAMismatch) {
  EXPECT_FATE(fate("multiply(a, b, c, m, n, k); c[3] = 0.0f / 0.0f;"), Reason::nan_mismatch, "first [3]");
}

TEST_F(SessionTest, ACrashNamesItsSignal) {
  EXPECT_FATE(fate("*(volatile int*)16 = 1;"), Reason::crashed, "SIGSEGV");
  EXPECT_FATE(fate("abort();"), Reason::crashed, "SIGABRT");
  EXPECT_FATE(fate("volatile int zero = 0; c[0] = (float)(7 / zero);"), Reason::crashed, "SIGFPE");
  EXPECT_FATE(fate("__builtin_trap();"), Reason::crashed, "SIGILL");
}

TEST_F(SessionTest, WritingToAnInputIsNamed) {
  EXPECT_FATE(fate("a[2] = 5;"), Reason::input_modified, "read-only input");
}

TEST_F(SessionTest, TheGuardPagesCatchBothEnds) {
  // Even slots end at a page (less alignment), odd ones begin at one.
  EXPECT_FATE(fate("multiply(a, b, c, m, n, k); c[m * n + 16] = 1;", 0), Reason::out_of_bounds, "guard page");
  EXPECT_FATE(fate("multiply(a, b, c, m, n, k); c[-1] = 1;", 1), Reason::out_of_bounds, "guard page");
  EXPECT_FATE(fate("multiply(a, b, c, m, n, k); c[0] += 0 * b[k * n + 64];", 0), Reason::out_of_bounds,
              "guard page");  // reading counts
}

TEST_F(SessionTest, TheSlackBesideABufferCatchesWhatTheGuardPagesMiss) {
  EXPECT_FATE(fate("multiply(a, b, c, m, n, k); c[m * n] = 1;", 0), Reason::out_of_bounds,
              "beside the buffer c");
  EXPECT_FATE(fate("multiply(a, b, c, m, n, k); c[-1] = 1;", 0), Reason::out_of_bounds,
              "beside the buffer c");
  EXPECT_FATE(fate("multiply(a, b, c, m, n, k); ((char*)c)[4095] ^= 1;", 1), Reason::out_of_bounds,
              "beside the buffer c");
  SessionOptions careless;
  careless.defences.guard_bytes = false;
  EXPECT_EQ(fate("multiply(a, b, c, m, n, k); c[m * n] = 1;", 0, careless).reason, Reason::none);
}

TEST_F(SessionTest, AnEndlessLoopTimesOut) {
  m_tiny.set("/limits/call_seconds", "0.3");
  EXPECT_FATE(fate("for (volatile int i = 0;; ++i) {}"), Reason::timeout, "0.3 s");
}

TEST_F(SessionTest, ASleeperTimesOutAsWell) {
  m_tiny.set("/limits/call_seconds", "0.2");
  EXPECT_FATE(fate("for (;;) pause();"), Reason::timeout, "0.2 s");
}

TEST_F(SessionTest, LeavingWithSuccessIsACrash) {
  EXPECT_FATE(fate("multiply(a, b, c, m, n, k); exit(0);"), Reason::crashed, "without an answer");
  EXPECT_FATE(fate("multiply(a, b, c, m, n, k); _exit(0);"), Reason::crashed, "without an answer");
}

TEST_F(SessionTest, LeavingAtLoadIsACrash) {
  make_pool();
  const std::string library = compile("} __attribute__((constructor)) static void leave() { _exit(0);");
  const auto session = Session::start(*m_case, *m_pool, {library, {}}, {});
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().reason, Reason::crashed) << session.error().detail;
}

TEST_F(SessionTest, ALibraryThatCannotBeLoadedSaysWhy) {
  make_pool();
  const std::string path = m_folder->path() + "/broken.so";
  ASSERT_TRUE(write_scratch(path, "no library at all"));
  const auto session = Session::start(*m_case, *m_pool, {path, {}}, {});
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().reason, Reason::crashed);
  EXPECT_NE(session.error().detail.find("could not be loaded"), std::string::npos) << session.error().detail;
}

TEST_F(SessionTest, AForgedAnswerIsContamination) {
  EXPECT_FATE(fate("static char reply[288]; write(5, reply, sizeof reply); multiply(a, b, c, m, n, k);"),
              Reason::contaminated, "not asked for");
}

TEST_F(SessionTest, AnotherRoundingModeIsContamination) {
#if defined(__x86_64__)
  EXPECT_FATE(fate("multiply(a, b, c, m, n, k); _mm_setcsr(_mm_getcsr() | 0x8040);"), Reason::contaminated,
              "rounding or denormal mode");
#endif
}

TEST_F(SessionTest, ReplacedFaultHandlersAreContamination) {
  EXPECT_FATE(fate("multiply(a, b, c, m, n, k); signal(SIGSEGV, SIG_IGN);"), Reason::contaminated,
              "fault handlers");
}

TEST_F(SessionTest, WhatTheKernelPrintsGoesToItsLog) {
  SessionOptions options;
  options.log_path = m_folder->path() + "/run.log";
  EXPECT_EQ(
      fate("multiply(a, b, c, m, n, k); puts(\"hello from inside\"); fflush(stdout);", 0, options).reason,
      Reason::none);
  const auto log = read_file(options.log_path);
  ASSERT_TRUE(log);
  EXPECT_NE(log->find("hello from inside"), std::string::npos);
}

TEST_F(SessionTest, AWorkspaceIsPoisonedTooAndItsEdgesWatched) {
  m_tiny.set("/arguments/5",
             R"({"name": "scratch", "buffer": "f32", "shape": ["m*n"], "role": "workspace"})");
  // Whoever trusts what lies in the workspace gets its poison, payload and all.
  EXPECT_FATE(fate("float* w = (float*)arg[5]; multiply(a, b, c, m, n, 8); c[0] += 0 * w[7];"),
              Reason::stale_output, "1 of 60 elements");
  EXPECT_FATE(fate("float* w = (float*)arg[5]; multiply(a, b, c, m, n, 8); w[-1] = 0;"),
              Reason::out_of_bounds, "scratch");
  EXPECT_EQ(
      fate("float* w = (float*)arg[5]; multiply(a, b, w, m, n, 8); for (int i = 0; i < 60; ++i) c[i] = w[i];")
          .reason,
      Reason::none);
}

TEST_F(SessionTest, AnInoutBufferStartsFreshEachTime) {
  m_tiny.write("reference.cpp", "");
  m_tiny.set("/reference",
             R"({"source": {"language": "c++", "files": ["reference.cpp"], "entry": "exact"}})");
  m_tiny.set("/arguments/1/role", "\"inout\"");
  m_case = m_tiny.load();
  auto made = InputPool::make(*m_case, m_case->shapes, 17, 4);
  ASSERT_TRUE(made);
  m_pool.emplace(std::move(*made));
  // What is expected is worked out here: c the product, b doubled after its use.
  for (std::size_t s = 0; s < 4; ++s) {
    InputSet& set = m_pool->shapes()[0].sets[s];
    for (int i = 0; i < 6; ++i) {
      for (int j = 0; j < 10; ++j) {
        double sum = 0;
        for (int p = 0; p < 8; ++p) {
          sum += read_element(m_pool->input(0, s, 0), Dtype::f32, static_cast<std::uint64_t>(i * 8 + p)) *
                 read_element(m_pool->input(0, s, 1), Dtype::f32, static_cast<std::uint64_t>(p * 10 + j));
        }
        set.expected[2].push_back(sum);
      }
    }
  }
  for (InputSet& set : m_pool->shapes()[0].sets) {
    set.expected[1].clear();
    for (std::size_t i = 0; i < 80; ++i)
      set.expected[1].push_back(2 * read_element(set.initial[1].data(), Dtype::f32, i));
  }
  const auto session = start("multiply(a, b, c, m, n, k); for (int i = 0; i < k * n; ++i) b[i] *= 2;");
  ASSERT_TRUE(session);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(once(*session, 0, 1).reason, Reason::none) << once(*session, 0, 1).detail;
}

TEST_F(SessionTest, MemoryOfADeadWorkerIsUsedAgainAndNeverTrusted) {
  OutputStore store;
  SessionOptions options;
  options.store = &store;
  EXPECT_EQ(fate("multiply(a, b, c, m, n, k);", 0, options).reason, Reason::none);
  EXPECT_EQ(store.size(), 1U);
  EXPECT_EQ(fate("", 0, options).reason, Reason::stale_output);  // the first worker's result lay there
  EXPECT_EQ(store.size(), 1U);
  const auto one = start("multiply(a, b, c, m, n, k);", options);
  const auto two = start("multiply(a, b, c, m, n, k);", options);
  EXPECT_EQ(store.size(), 2U);  // two at a time never share
}

TEST_F(SessionTest, AnInterruptionEndsACallAtOnce) {
  std::atomic<bool> stop = false;
  SessionOptions options;
  options.stop = &stop;
  const auto session = start("for (;;) pause();", options);
  ASSERT_TRUE(session);
  stop = true;
  const Rejection rejection = once(*session);
  EXPECT_TRUE(rejection.infra());
  EXPECT_NE(rejection.detail.find("interrupted"), std::string::npos);
}

TEST_F(SessionTest, ThreadsAndProcessesAreRefusedToASingleThreadedKernel) {
  EXPECT_FATE(fate("multiply(a, b, c, m, n, k); c[0] = fork() < 0 ? c[0] : 1e9f;"), Reason::none, "");
}

TEST_F(SessionTest, AResultLeftStandingBySeveralCallsOfOneSampleHasToBeWrittenAgain) {
  // The second call of a sample finds its result in place and returns at once.
  const auto lazy = start("static int last; if (last == m) return; last = m; multiply(a, b, c, m, n, k);");
  ASSERT_TRUE(lazy);
  ASSERT_FALSE(lazy->prepare(0, 0, 0));
  ASSERT_TRUE(lazy->call(0, 0, 2));
  CheckEvidence evidence;
  CompareRules rules;
  rules.tolerance = m_case->tolerance;
  const auto rejection = lazy->check(0, 0, 0, rules, evidence);
  ASSERT_TRUE(rejection);
  EXPECT_EQ(rejection->reason, Reason::stale_output);
  EXPECT_GE(evidence.bad_elements, 1);

  const auto honest = start("multiply(a, b, c, m, n, k);");
  ASSERT_TRUE(honest);
  ASSERT_FALSE(honest->prepare(0, 0, 0));
  ASSERT_TRUE(honest->call(0, 0, 5));
  EXPECT_FALSE(honest->check(0, 0, 0, rules, evidence));
}

TEST_F(SessionTest, ComparesTheResultsOfTwoWorkersOnInputsWithoutAReference) {
  const auto right = start("multiply(a, b, c, m, n, k);");
  const auto same = start("multiply(a, b, c, m, n, k);");
  const auto wrong = start("multiply(a, b, c, m, n, k); c[7] += 0.5f;");
  ASSERT_TRUE(right && same && wrong);
  m_pool->rearrange(0, 1);
  for (Session* session : {right.get(), same.get(), wrong.get()}) {
    ASSERT_FALSE(session->prepare(0, 1, 1));
    ASSERT_TRUE(session->call(0, 1, 1));
  }
  CompareRules rules;
  rules.tolerance = m_case->tolerance;
  CheckEvidence evidence;
  EXPECT_FALSE(same->check_against(*right, 0, 1, rules, evidence));
  EXPECT_TRUE(same->check(0, 1, 1, rules, evidence)) << "the reference still held after rearranging";
  const auto rejection = wrong->check_against(*right, 0, 1, rules, evidence);
  ASSERT_TRUE(rejection);
  EXPECT_EQ(rejection->reason, Reason::wrong_result);
  EXPECT_NE(rejection->detail.find("first [7]"), std::string::npos) << rejection->detail;
}

}  // namespace
}  // namespace tunesmith::bench
