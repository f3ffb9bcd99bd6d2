#include "bench/builder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "bench/symbols.h"
#include "support/tiny_case.h"

namespace tunesmith::bench {
namespace {

using Outcome = BuildEvidence::Outcome;

class BuilderTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = TempDir::make();
    ASSERT_TRUE(made);
    m_folder.emplace(std::move(*made));
    ASSERT_EQ(chmod(m_folder->path().c_str(), 0711), 0);
    ASSERT_TRUE(make_folders(logs()));
  }
  [[nodiscard]] std::string logs() const { return m_folder->path() + "/logs"; }
  /// Builds the tiny case with another kernel text.
  Built build(const std::string& text, std::vector<std::string> flags = {"-O2"}) {
    m_tiny.write("kernel.cpp", text);
    m_case = m_tiny.load();
    BuildJob job;
    job.source = &m_case->source;
    job.flags = std::move(flags);
    job.identity = std::string(63, 'a') + std::to_string(m_builds++ % 10);
    Builder builder(*m_case, m_folder->path(), logs(), Defences{}, nullptr);
    return builder.build(job);
  }
  static std::string entry(const std::string& body, const std::string& before = {}) {
    return before +
           "\nextern \"C\" void product(const float* a, const float* b, float* c, int m, int n, int k) {\n" +
           body + "\n}\n";
  }
  TinyCase m_tiny;
  std::optional<Case> m_case;
  std::optional<TempDir> m_folder;
  int m_builds = 0;
};

TEST_F(BuilderTest, BuildsALibraryWithTheCallableEntry) {
  const Built built = build(k_tiny_kernel);
  ASSERT_EQ(built.evidence.outcome, Outcome::ok) << built.evidence.detail;
  ASSERT_TRUE(exists(built.library));
  const auto bytes = read_file(built.library);
  ASSERT_TRUE(bytes);
  EXPECT_NE(bytes->find("tunesmith_call"), std::string::npos);
  EXPECT_EQ(built.evidence.library_sha256.size(), 64U);
  EXPECT_GT(built.evidence.cpu_ms, 0);
  EXPECT_GT(built.evidence.wall_ms, 0);
  for (const std::string& name : list_folder(m_folder->path()))
    EXPECT_FALSE(name.starts_with("build-")) << "left behind: " << name;
}

TEST_F(BuilderTest, TheSameSourceGivesTheSameBytes) {
  const Built one = build(k_tiny_kernel);
  m_builds = 0;
  const Built two = build(k_tiny_kernel);
  EXPECT_EQ(one.evidence.library_sha256, two.evidence.library_sha256);
}

TEST_F(BuilderTest, ASyntaxErrorCarriesTheCandidatesOwnFileAndLine) {
  const Built built = build(entry("  int x = ;", "// first line"));
  EXPECT_EQ(built.evidence.outcome, Outcome::failed);
  EXPECT_EQ(built.evidence.reason, Reason::build_failed);
  EXPECT_TRUE(built.evidence.detail.starts_with("kernel.cpp:3:")) << built.evidence.detail;
  EXPECT_NE(built.evidence.detail.find("error"), std::string::npos);
  EXPECT_EQ(built.library, "");
  const auto log = read_file(built.evidence.log_path);
  ASSERT_TRUE(log);
  EXPECT_NE(log->find("int x = ;"), std::string::npos);
}

TEST_F(BuilderTest, AnotherSignatureThanTheCaseSaysDoesNotCompile) {
  const Built built = build("extern \"C\" void product(float* c) { *c = 0; }");
  EXPECT_EQ(built.evidence.reason, Reason::build_failed) << built.evidence.detail;
}

TEST_F(BuilderTest, ABuildThatNeverEndsIsStopped) {
  m_tiny.set("/limits/build_seconds", "1");
  // Seconds of work for the compiler's interpreter, many times over.
  const Built built = build(entry(
      "",
      R"(template <int I> constexpr unsigned spin() { unsigned s = I; for (unsigned i = 0; i < 7000000; ++i) s = s * 3 + i; return s; }
template <int I> struct All { static constexpr unsigned v = spin<I>() + All<I - 1>::v; };
template <> struct All<0> { static constexpr unsigned v = 0; };
unsigned result = All<60>::v;)"));
  EXPECT_EQ(built.evidence.outcome, Outcome::timed_out) << built.evidence.detail;
  EXPECT_EQ(built.evidence.reason, Reason::build_timeout);
}

TEST_F(BuilderTest, ACompilerThatFloodsItsOutputIsStopped) {
  m_tiny.set("/limits/output_kib", "16");
  std::string warnings = "#pragma GCC warning \"x\"\n";
  std::string text;
  for (int i = 0; i < 5000; ++i) text += warnings;
  const Built built = build(entry("", text));
  EXPECT_EQ(built.evidence.outcome, Outcome::failed) << built.evidence.detail;
  EXPECT_EQ(built.evidence.reason, Reason::build_failed);
  EXPECT_LE(built.evidence.log_excerpt.size(), 5000U);
  const auto log = read_file(built.evidence.log_path);
  ASSERT_TRUE(log);
  EXPECT_LE(log->size(), 17U << 10);
}

TEST_F(BuilderTest, AKernelCannotIncludeAFileOutside) {
  m_tiny.write("secret.h", "int secret = 42;\n");
  for (const std::string& path : {m_tiny.file("secret.h"), std::string("/etc/passwd"),
                                  std::string("/proc/self/environ"), std::string("/proc/1/maps")}) {
    const Built built = build(entry("", "#include \"" + path + "\""));
    EXPECT_EQ(built.evidence.outcome, Outcome::failed) << path << ": " << built.evidence.detail;
    EXPECT_EQ(built.evidence.log_excerpt.find("42"), std::string::npos);
    EXPECT_EQ(built.evidence.log_excerpt.find("root:"), std::string::npos);
  }
}

TEST_F(BuilderTest, AssemblerIncludesCannotReadAFileOutsideEither) {
  m_tiny.write("secret.h", "0123456789");
  const Built built = build(entry("", "__asm__(\".incbin \\\"" + m_tiny.file("secret.h") + "\\\"\");"));
  EXPECT_EQ(built.evidence.outcome, Outcome::failed) << built.evidence.detail;
}

TEST_F(BuilderTest, FastMathLeavesNoConstructor) {
  const Built built = build(k_tiny_kernel, {"-O2", "-ffast-math"});
  ASSERT_EQ(built.evidence.outcome, Outcome::ok) << built.evidence.detail;
  const auto bytes = read_file(built.library);
  ASSERT_TRUE(bytes);
  const auto facts = read_library(*bytes);
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->constructors, 0U);
}

TEST_F(BuilderTest, ForbiddenSymbolsAreRefusedUnlessTheEngineerWroteThem) {
  const std::string text = entry("  c[0] = (float)getpid();", "extern \"C\" int getpid();");
  const Built built = build(text);
  EXPECT_EQ(built.evidence.outcome, Outcome::forbidden);
  EXPECT_EQ(built.evidence.reason, Reason::forbidden_symbol);
  EXPECT_NE(built.evidence.detail.find("getpid"), std::string::npos);
  EXPECT_EQ(built.library, "");
  BuildJob job;
  job.source = &m_case->source;
  job.trusted = true;
  job.identity = std::string(64, 'b');
  Builder builder(*m_case, m_folder->path(), "", Defences{}, nullptr);
  EXPECT_EQ(builder.build(job).evidence.outcome, Outcome::ok);
}

TEST_F(BuilderTest, MacrosAndPatchesReachTheSource) {
  m_tiny.write("kernel.cpp", "#error not patched\n");
  m_case = m_tiny.load();
  BuildJob job;
  job.source = &m_case->source;
  job.macros = {{"WISHED", "7"}, {"NAME", "streaming"}};
  job.patched[m_tiny.file("kernel.cpp")] =
      "#if WISHED != 7\n#error macro\n#endif\nstatic int NAME;\nextern \"C\" void product(const float*, "
      "const float*, float*, int, int, int) { streaming = 1; }\n";
  job.identity = std::string(64, 'c');
  Builder builder(*m_case, m_folder->path(), "", Defences{}, nullptr);
  const Built built = builder.build(job);
  EXPECT_EQ(built.evidence.outcome, Outcome::ok) << built.evidence.detail;
}

TEST_F(BuilderTest, BuildsSeveralAtATimeInTheOrderAsked) {
  m_case = m_tiny.load();
  std::vector<BuildJob> jobs;
  for (int i = 0; i < 5; ++i) {
    BuildJob job;
    job.source = &m_case->source;
    job.macros = {{"ORDER", i == 3 ? "(" : "0"}};
    job.identity = std::string(1, static_cast<char>('a' + i)) + std::string(63, '0');
    jobs.push_back(job);
  }
  Builder builder(*m_case, m_folder->path(), "", Defences{}, nullptr);
  const auto built = builder.build_all(jobs, 3);
  ASSERT_EQ(built.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(built[i].evidence.identity, jobs[i].identity);
    EXPECT_EQ(built[i].evidence.outcome, i == 3 ? Outcome::failed : Outcome::ok)
        << i << built[i].evidence.detail;
  }
}

TEST_F(BuilderTest, AnInterruptionIsNotTheCandidatesFault) {
  const std::atomic<bool> stop = true;
  m_case = m_tiny.load();
  BuildJob job;
  job.source = &m_case->source;
  job.identity = std::string(64, 'd');
  Builder builder(*m_case, m_folder->path(), "", Defences{}, &stop);
  const Built built = builder.build(job);
  EXPECT_EQ(built.evidence.outcome, Outcome::infra);
}

TEST_F(BuilderTest, NamesTheCompiler) {
  m_case = m_tiny.load();
  Builder builder(*m_case, m_folder->path(), "", Defences{}, nullptr);
  const auto cpp = builder.toolchain("c++");
  const auto c = builder.toolchain("c");
  ASSERT_TRUE(cpp && c);
  EXPECT_NE(cpp->find("g++"), std::string::npos) << *cpp;
  EXPECT_EQ(c->find('\n'), std::string::npos);
}

TEST(FirstErrorTest, TakesTheFirstErrorAndDropsTheBuildFolder) {
  EXPECT_EQ(first_error("In file included from /b/w/tunesmith_glue.cpp:1:\n/b/w/kernel.cpp:3:4: warning: "
                        "x\n/b/w/kernel.cpp:9:1: error: y\n",
                        "/b/w"),
            "kernel.cpp:9:1: error: y");
  EXPECT_EQ(first_error("ld: kernel.o: undefined reference to `f'\n", "/b"),
            "ld: kernel.o: undefined reference to `f'");
  EXPECT_EQ(first_error("\n  collect2: fatal\n", "/b"), "collect2: fatal");
  EXPECT_EQ(first_error("", "/b"), "the compiler said nothing");
  EXPECT_EQ(first_error("x: error: \x1b[31mred\x1b[0m", "").find('\x1b'), std::string::npos);
  EXPECT_LT(first_error("error: " + std::string(5000, 'x'), "").size(), 400U);
}

}  // namespace
}  // namespace tunesmith::bench
