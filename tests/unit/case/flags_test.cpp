#include "case/flags.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"

namespace tunesmith {
namespace {

class FlagsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(make_folders(m_folder.path() + "/case/include"));
    ASSERT_TRUE(make_folders(m_folder.path() + "/elsewhere"));
    m_folders = {m_folder.path() + "/case", {m_folder.path() + "/case"}};
  }
  bool allowed(const std::string& flag, FlagUse use = FlagUse::compile) const {
    return check_flag(flag, use, m_folders).has_value();
  }
  std::string why(const std::string& flag, FlagUse use = FlagUse::compile) const {
    const auto checked = check_flag(flag, use, m_folders);
    return checked ? "" : checked.error().message;
  }
  TempDir m_folder = std::move(*TempDir::make());
  FlagFolders m_folders;
};

TEST_F(FlagsTest, AllowsWhatKernelsAreUsuallyCompiledWith) {
  for (const char* flag : {"-O2",
                           "-O3",
                           "-Ofast",
                           "-Os",
                           "-std=c++20",
                           "-std=gnu11",
                           "-std=c99",
                           "-march=native",
                           "-march=x86-64-v3",
                           "-mtune=generic",
                           "-mavx512f",
                           "-mno-avx512f",
                           "-mprefer-vector-width=512",
                           "-ffast-math",
                           "-fno-math-errno",
                           "-funroll-loops",
                           "-fno-tree-vectorize",
                           "-ffp-contract=off",
                           "-fno-semantic-interposition",
                           "-falign-loops=32",
                           "-fopenmp",
                           "-pthread",
                           "-g",
                           "-Wall",
                           "-Wno-unknown-pragmas",
                           "-Werror=vla",
                           "-DMR=4",
                           "-DNAME",
                           "-DX=1.5e-3",
                           "-UNDEBUG",
                           "--param=max-unroll-times=8",
                           "-w"}) {
    EXPECT_TRUE(allowed(flag)) << flag << ": " << why(flag);
  }
}

TEST_F(FlagsTest, RefusesWhatRunsPrograms) {
  for (const char* flag : {"-fplugin=evil.so", "-fplugin-arg-x-y=1", "-B/tmp", "-B.", "-wrapper", "-specs=x",
                           "--specs=x", "-fuse-ld=gold"}) {
    EXPECT_FALSE(allowed(flag)) << flag;
  }
}

TEST_F(FlagsTest, RefusesWhatReachesTheLinkerOrOtherToolsPastTheList) {
  for (const char* flag : {"-Wl,-rpath,/tmp", "-Wa,-a=x", "-Wp,-MD,x", "-Xlinker", "-Xclang", "-mllvm", "-L.",
                           "-L/tmp", "-rpath", "-T", "-shared", "-static", "-nostdlib", "-z"}) {
    EXPECT_FALSE(allowed(flag)) << flag;
  }
}

TEST_F(FlagsTest, RefusesWhatReadsOrWritesOtherFiles) {
  for (const char* flag : {"@flags.txt",
                           "-include",
                           "-imacros",
                           "-includex.h",
                           "-isystem",
                           "-isystem/usr",
                           "-o",
                           "-oout",
                           "-x",
                           "-MD",
                           "-MF",
                           "-save-temps",
                           "-fdump-tree-all",
                           "-fprofile-generate=/tmp",
                           "-fprofile-use",
                           "-fauto-profile=x",
                           "-fopt-info=x",
                           "-c",
                           "-E",
                           "-S",
                           "-ftime-report",
                           "-fcallgraph-info",
                           "kernel.cpp",
                           "/usr/lib/libm.a",
                           "--sysroot=/",
                           "-ffile-prefix-map=a=b"}) {
    EXPECT_FALSE(allowed(flag)) << flag;
  }
}

TEST_F(FlagsTest, RefusesShellCharacters) {
  for (const char* flag : {"-DX=`id`", "-DX=$(id)", "-O2;id", "-O2 -fplugin=x", "-DX='1'", "-DX=\"1\"",
                           "-DF(x)=x", "-DX=a|b", "-DX=a\nb", "-DX=\\x"}) {
    EXPECT_NE(why(flag).find("misread by a shell"), std::string::npos) << flag << ": " << why(flag);
  }
}

TEST_F(FlagsTest, NamesTheReason) {
  EXPECT_EQ(why("-fplugin=x"),
            "the flag \"-fplugin=x\" is not allowed: it loads a program into the compiler");
  EXPECT_NE(why("-O7").find("not on the list"), std::string::npos);
  EXPECT_NE(why("--param").find("same word"), std::string::npos);
  EXPECT_NE(why("").find("empty"), std::string::npos);
}

TEST_F(FlagsTest, KeepsReservedMacrosForItself) {
  EXPECT_FALSE(allowed("-Dreal=float"));
  EXPECT_FALSE(allowed("-Dtunesmith_call=x"));
  EXPECT_FALSE(allowed("-D__OPTIMIZE__"));
  EXPECT_FALSE(allowed("-D9=1"));
  EXPECT_FALSE(allowed("-D"));
  EXPECT_FALSE(allowed("-UX=1"));
  EXPECT_FALSE(allowed("-DX=a/b"));
}

TEST_F(FlagsTest, LinksLibrariesByPlainNameAndOnlyForALibrarySource) {
  EXPECT_TRUE(allowed("-lopenblas", FlagUse::library));
  EXPECT_TRUE(allowed("-lstdc++", FlagUse::library));
  EXPECT_NE(why("-lopenblas").find("candidates link no libraries"), std::string::npos);
  EXPECT_FALSE(allowed("-l:libx.so", FlagUse::library));
  EXPECT_FALSE(allowed("-l../x", FlagUse::library));
  EXPECT_FALSE(allowed("-l", FlagUse::library));
}

TEST_F(FlagsTest, IncludeFoldersStayInsideTheCase) {
  const auto checked = check_flag("-Iinclude", FlagUse::compile, m_folders);
  ASSERT_TRUE(checked) << checked.error().message;
  EXPECT_EQ(*checked, "-I" + std::filesystem::weakly_canonical(m_folder.path() + "/case/include").string());
  EXPECT_TRUE(allowed("-I."));
  EXPECT_FALSE(allowed("-I../elsewhere"));
  EXPECT_FALSE(allowed("-I/usr/include"));
  EXPECT_FALSE(allowed("-Iabsent"));
  EXPECT_FALSE(allowed("-I"));
}

TEST_F(FlagsTest, ASymlinkDoesNotLeadOutOfTheCase) {
  std::filesystem::create_directory_symlink(m_folder.path() + "/elsewhere", m_folder.path() + "/case/link");
  EXPECT_FALSE(allowed("-Ilink"));
}

TEST_F(FlagsTest, PlainWordsAreWhatNobodyMisreads) {
  for (const char* word : {"128B", "a_b", "1.5", "-O3", "x+y"}) EXPECT_TRUE(is_plain_word(word)) << word;
  for (const char* word : {"", "a b", "a\"b", "a,b", "a(b)", "a/b", "a#b", "ä", "a\n"})
    EXPECT_FALSE(is_plain_word(word)) << word;
  EXPECT_FALSE(is_plain_word(std::string(65, 'a')));
}

TEST_F(FlagsTest, FillsPlaceholdersByMacroText) {
  const auto space =
      space::Space::create({{"UNROLL", {std::int64_t{2}, std::int64_t{4}}}, {"FAST", {true, false}}}, {});
  ASSERT_TRUE(space);
  const space::Config config{{1, 0}};
  EXPECT_EQ(fill_placeholders("-DX={UNROLL}{FAST}", *space, config).value(), "-DX=41");
  EXPECT_EQ(fill_placeholders("-O2", *space, config).value(), "-O2");
  EXPECT_FALSE(fill_placeholders("{NONE}", *space, config));
  EXPECT_FALSE(fill_placeholders("{UNROLL", *space, config));
}

}  // namespace
}  // namespace tunesmith
