#include "case/candidate.h"

#include <filesystem>

#include "fixture.h"

namespace tunesmith::testing {
namespace {

class CandidateTest : public CaseFixture {
 protected:
  void SetUp() override {
    CaseFixture::SetUp();
    auto loaded = load();
    ASSERT_TRUE(loaded) << loaded.error().line();
    m_loaded = std::move(*loaded);
  }
  std::string refusal(const std::string& diff) const {
    const auto patched = patched_sources(m_loaded, diff);
    return patched ? "accepted" : patched.error().line();
  }
  std::string identity(const Candidate& candidate, const std::string& toolchain = "g++ 12.2.0") const {
    const auto identity = candidate_identity(m_loaded, candidate, toolchain);
    EXPECT_TRUE(identity) << identity.error().line();
    return identity.value_or("");
  }
  static std::string diff_of(const std::string& path, const std::string& hunk) {
    return "--- a/" + path + "\n+++ b/" + path + "\n" + hunk;
  }
  static constexpr const char* k_hunk = "@@ -9,1 +9,1 @@\n-      float sum = 0;\n+      double sum = 0;\n";
  Case m_loaded;
};

TEST_F(CandidateTest, WithoutADiffSourcesStandAsTheyAre) {
  const auto texts = patched_sources(m_loaded, "");
  ASSERT_TRUE(texts);
  EXPECT_EQ(texts->size(), 1U);
  EXPECT_EQ(texts->at(m_loaded.source.files[0]), k_kernel);
}

TEST_F(CandidateTest, ADiffMayNameTheFileByAnyEndingOfItsPath) {
  for (const char* path : {"gemm.cpp", "kernels/gemm.cpp", "./gemm.cpp"}) {
    const auto texts = patched_sources(m_loaded, diff_of(path, k_hunk));
    ASSERT_TRUE(texts) << path << ": " << texts.error().line();
    EXPECT_NE(texts->at(m_loaded.source.files[0]).find("double sum"), std::string::npos);
  }
  // Half a component is no ending.
  EXPECT_HAS(refusal(diff_of("emm.cpp", k_hunk)), "not editable; editable are gemm.cpp");
}

TEST_F(CandidateTest, TheOriginalIsNeverTouched) {
  ASSERT_TRUE(patched_sources(m_loaded, diff_of("gemm.cpp", k_hunk)));
  EXPECT_EQ(read_file(m_loaded.source.files[0]).value(), k_kernel);
}

TEST_F(CandidateTest, OnlyListedFilesMayBeTouched) {
  EXPECT_HAS(refusal(diff_of("gemm.h", "@@ -1 +1 @@\n-#define UNROLL 4\n+#define UNROLL 8\n")),
             "gemm.h is not editable");
  EXPECT_HAS(refusal(diff_of("reference.cpp", k_hunk)), "not editable");
  EXPECT_HAS(refusal(diff_of("../kernels/gemm.cpp", k_hunk)), "\"..\"");
  EXPECT_HAS(refusal("--- " + m_loaded.source.files[0] + "\n+++ " + m_loaded.source.files[0] + "\n" + k_hunk),
             "absolute path");
  EXPECT_HAS(refusal(diff_of("kernels//gemm.cpp", k_hunk)), "no plain path");
}

TEST_F(CandidateTest, ASymlinkIsNotFollowed) {
  std::filesystem::rename(m_loaded.source.files[0], file("real.cpp"));
  std::filesystem::create_symlink(file("real.cpp"), m_loaded.source.files[0]);
  EXPECT_HAS(refusal(diff_of("gemm.cpp", k_hunk)), "symlink");
}

TEST_F(CandidateTest, AnAmbiguousNameIsRefused) {
  write(file("other/gemm.cpp"), k_kernel);
  m_loaded.source.editable.push_back(file("other/gemm.cpp"));
  EXPECT_HAS(refusal(diff_of("gemm.cpp", k_hunk)), "write more of the path");
  EXPECT_EQ(refusal(diff_of("other/gemm.cpp", k_hunk)), "accepted");
}

TEST_F(CandidateTest, AFileDoesNotGrowWithoutEnd) {
  std::string lines;
  for (int i = 0; i < 9; ++i) lines += "+" + std::string(120'000, 'x') + "\n";
  EXPECT_HAS(refusal(diff_of("gemm.cpp", "@@ -0,0 +1,9 @@\n" + lines)), "1 MiB");
  std::string much(1'100'000, '\n');
  EXPECT_HAS(refusal(much), "larger than 1 MiB");
}

TEST_F(CandidateTest, CommentsAndSpaceAreNoNewCandidate) {
  const Candidate plain{*m_loaded.baseline.config, ""};
  const std::string hunk = "@@ -5,1 +5,2 @@\n-// a small product\n+/* another comment */\n+\n";
  EXPECT_EQ(identity(plain), identity({plain.config, diff_of("gemm.cpp", hunk)}));
  EXPECT_EQ(identity(plain).size(), 64U);
}

TEST_F(CandidateTest, CodeMacrosFlagsAndToolchainMakeANewCandidate) {
  const Candidate plain{*m_loaded.baseline.config, ""};
  const std::string before = identity(plain);
  EXPECT_NE(before, identity({plain.config, diff_of("gemm.cpp", k_hunk)}));
  EXPECT_NE(before, identity(plain, "g++ 13.1.0"));
  for (std::size_t i = 0; i < plain.config.at.size(); ++i) {
    Candidate other = plain;
    other.config.at[i] = other.config.at[i] == 0 ? 1 : 0;
    EXPECT_NE(before, identity(other)) << i;
  }
  m_loaded.flags.emplace_back("-funroll-loops");
  EXPECT_NE(before, identity(plain));
}

TEST_F(CandidateTest, AParameterInAFlagCountsByItsValue) {
  m_loaded.flags = {"--param=max-unroll-times={MR}"};
  const Candidate plain{*m_loaded.baseline.config, ""};
  Candidate other = plain;
  other.config.at[0] = 0;
  EXPECT_NE(identity(plain), identity(other));
}

TEST_F(CandidateTest, AHeaderOfTheProjectBelongsToTheIdentity) {
  const Candidate plain{*m_loaded.baseline.config, ""};
  const std::string before = identity(plain);
  write(file("kernels/gemm.h"), "#define UNROLL 4 // the same\n");
  EXPECT_EQ(before, identity(plain));
  write(file("kernels/gemm.h"), "#define UNROLL 8\n");
  EXPECT_NE(before, identity(plain));
}

TEST_F(CandidateTest, HeadersThatIncludeEachOtherEnd) {
  write(file("kernels/gemm.h"), "#include \"more.h\"\n#include \"\"\n");
  write(file("kernels/more.h"), "#include \"gemm.h\"\n");
  EXPECT_EQ(identity({*m_loaded.baseline.config, ""}).size(), 64U);
}

TEST_F(CandidateTest, ABadDiffHasNoIdentity) {
  const auto none = candidate_identity(m_loaded, {*m_loaded.baseline.config, "nonsense"}, "g++");
  ASSERT_FALSE(none);
  EXPECT_HAS(none.error().line(), "diff:1: \"nonsense\" is no part of a unified diff");
}

}  // namespace
}  // namespace tunesmith::testing
