#include "case/diff.h"

#include <gtest/gtest.h>

namespace tunesmith {
namespace {

Result<std::string> patch(const std::string& text, const std::string& diff) {
  auto files = parse_diff(diff);
  if (!files) return tl::unexpected<Error>(files.error());
  return apply_hunks(text, files->at(0));
}

std::string refusal(const std::string& text, const std::string& diff) {
  const auto patched = patch(text, diff);
  return patched ? "accepted: " + *patched : patched.error().line();
}

#define EXPECT_REFUSED(text, diff, part) \
  EXPECT_NE(refusal(text, diff).find(part), std::string::npos) << refusal(text, diff)

constexpr const char* k_text = "one\ntwo\nthree\nfour\nfive\n";
const std::string k_head = "--- a/x.cpp\n+++ b/x.cpp\n";

TEST(DiffTest, AppliesAHunk) {
  EXPECT_EQ(patch(k_text, k_head + "@@ -2,3 +2,3 @@\n two\n-three\n+3\n four\n").value(),
            "one\ntwo\n3\nfour\nfive\n");
}

TEST(DiffTest, AppliesSeveralHunksAndAGitPreamble) {
  const std::string diff =
      "diff --git a/x.cpp b/x.cpp\nindex 12..34 100644\n" + k_head +
      "@@ -1,2 +1,3 @@ int f() {\n one\n+one and a half\n two\n@@ -4,2 +5,1 @@\n four\n-five\n";
  EXPECT_EQ(patch(k_text, diff).value(), "one\none and a half\ntwo\nthree\nfour\n");
}

TEST(DiffTest, AMissingCountIsOne) {
  EXPECT_EQ(patch(k_text, k_head + "@@ -3 +3 @@\n-three\n+3\n").value(), "one\ntwo\n3\nfour\nfive\n");
}

TEST(DiffTest, APureInsertionStandsBehindItsLine) {
  EXPECT_EQ(patch(k_text, k_head + "@@ -2,0 +3,1 @@\n+new\n").value(), "one\ntwo\nnew\nthree\nfour\nfive\n");
  EXPECT_EQ(patch(k_text, k_head + "@@ -0,0 +1,1 @@\n+new\n").value(), "new\none\ntwo\nthree\nfour\nfive\n");
  EXPECT_REFUSED(k_text, k_head + "@@ -9,0 +10,1 @@\n+new\n", "beyond the file's end");
}

TEST(DiffTest, AFewLinesOfOffsetAreFound) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "line " + std::to_string(i) + "\n";
  const auto hunk = [](int line) {
    return k_head + "@@ -" + std::to_string(line) + ",2 +" + std::to_string(line) +
           ",2 @@\n line 30\n-line 31\n+changed\n";
  };
  EXPECT_TRUE(patch(text, hunk(31)));
  EXPECT_TRUE(patch(text, hunk(11)));
  EXPECT_TRUE(patch(text, hunk(51)));
  EXPECT_REFUSED(text, hunk(10), "does not apply");
  EXPECT_REFUSED(text, hunk(52), "does not apply");
}

TEST(DiffTest, AnAmbiguousPlaceIsRefused) {
  EXPECT_REFUSED("x\na\nx\n", k_head + "@@ -2,1 +2,1 @@\n-x\n+y\n", "equally well");
}

TEST(DiffTest, TheOffsetOfOneHunkMovesTheNext) {
  const std::string diff = k_head + "@@ -1,1 +1,1 @@\n-three\n+3\n@@ -2,1 +2,1 @@\n-four\n+4\n";
  EXPECT_EQ(patch(k_text, diff).value(), "one\ntwo\n3\n4\nfive\n");
}

TEST(DiffTest, HunksMustNotOverlap) {
  EXPECT_REFUSED(k_text, k_head + "@@ -2,2 +2,2 @@\n two\n-three\n+3\n@@ -3,2 +3,2 @@\n-three\n+x\n four\n",
                 "does not apply");
}

TEST(DiffTest, ContextMustMatchExactly) {
  EXPECT_REFUSED("one\n two\n", k_head + "@@ -1,2 +1,2 @@\n one\n-two\n+2\n", "does not apply at line 1");
}

TEST(DiffTest, CountsMustBeMet) {
  EXPECT_REFUSED(k_text, k_head + "@@ -2,3 +2,3 @@\n two\n-three\n+3\n", "before its counts are met");
  EXPECT_REFUSED(k_text, k_head + "@@ -2,1 +2,1 @@\n-two\n+2\n-three\n", "no part of a unified diff");
  EXPECT_REFUSED(k_text, k_head + "@@ -2,1 +2,0 @@\n two\n", "more new lines than its header says");
  EXPECT_REFUSED(k_text, k_head + "@@ 2,1 @@\n-two\n", "no hunk header");
}

TEST(DiffTest, KeepsCarriageReturns) {
  // The file has CRLF, the diff has not: the file's kind of line end stays, in added lines too.
  EXPECT_EQ(patch("one\r\ntwo\r\nthree\r\n", k_head + "@@ -2,1 +2,2 @@\n-two\n+2\n+2b\n").value(),
            "one\r\n2\r\n2b\r\nthree\r\n");
  // And the reverse: a diff sent with CRLF does not bring CRLF into the file.
  EXPECT_EQ(patch("one\ntwo\n", "--- a/x.cpp\r\n+++ b/x.cpp\r\n@@ -2,1 +2,1 @@\r\n-two\r\n+2\r\n").value(),
            "one\n2\n");
}

TEST(DiffTest, KeepsOrChangesTheMissingLastNewline) {
  const std::string mark = "\\ No newline at end of file\n";
  EXPECT_EQ(patch("one\ntwo", k_head + "@@ -1,2 +1,2 @@\n-one\n+1\n two\n" + mark).value(), "1\ntwo");
  EXPECT_EQ(patch("one\ntwo", k_head + "@@ -2,1 +2,1 @@\n-two\n" + mark + "+2\n").value(), "one\n2\n");
  EXPECT_EQ(patch("one\ntwo\n", k_head + "@@ -2,1 +2,1 @@\n-two\n+2\n" + mark).value(), "one\n2");
  EXPECT_EQ(patch("one\ntwo", k_head + "@@ -2,1 +2,2 @@\n two\n+three\n").value(), "one\ntwo\nthree\n");
  EXPECT_REFUSED("one\ntwo\n", k_head + "@@ -2,1 +2,1 @@\n-two\n" + mark + "+2\n", "does not apply");
  EXPECT_REFUSED("one\ntwo\n", k_head + "@@ -1,1 +1,1 @@\n-one\n+1\n" + mark, "stands inside");
}

TEST(DiffTest, AnEmptyContextLineMayLackItsSpace) {
  EXPECT_EQ(patch("a\n\nb\n", k_head + "@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n").value(), "a\n\nc\n");
}

TEST(DiffTest, RefusesEverythingButChangesOfText) {
  const char* const refused[][2] = {
      {"--- /dev/null\n+++ b/x.cpp\n@@ -0,0 +1 @@\n+a\n", "may not create"},
      {"--- a/x.cpp\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n", "may not delete"},
      {"diff --git a/x b/x\nnew file mode 100644\n", "may not create"},
      {"diff --git a/x b/x\ndeleted file mode 100644\n", "may not delete"},
      {"diff --git a/x b/y\nsimilarity index 90%\nrename from x\n", "may not rename"},
      {"--- a/x.cpp\n+++ b/y.cpp\n@@ -1 +1 @@\n-one\n+1\n", "may not rename"},
      {"old mode 100644\nnew mode 100755\n", "file's mode"},
      {"Binary files a/x and b/x differ\n", "binary"},
      {"GIT binary patch\nliteral 3\n", "binary"},
      {"", "no file header"},
      {"Here is the patch:\n--- a/x.cpp\n", "no part of a unified diff"},
      {"--- a/x.cpp\n", "not followed by"},
      {"--- a/x.cpp\n+++ b/x.cpp\n", "has no hunk"},
      {"@@ -1 +1 @@\n-one\n+1\n", "before its file header"},
      {"--- a/x.cpp\n+++ b/x.cpp\n@@ -1 +1 @@\n one\n", "changes nothing"},
      {"--- a/x.cpp\n+++ b/x.cpp\n@@ -1 +1 @@\n-one\n+1\n--- a/x.cpp\n+++ b/x.cpp\n@@ -2 +2 @@\n-two\n+2\n",
       "patched twice"}};
  for (const auto& [diff, part] : refused) EXPECT_REFUSED(k_text, diff, part);
  EXPECT_REFUSED(k_text, std::string("--- a/x\0y\n", 10), "NUL");
}

TEST(DiffTest, HugeNumbersAreNoHunkHeader) {
  EXPECT_REFUSED(k_text, k_head + "@@ -99999999999999999999,1 +1,1 @@\n-one\n+1\n", "no hunk header");
  EXPECT_REFUSED(k_text, k_head + "@@ --1,1 +1,1 @@\n-one\n+1\n", "no hunk header");
}

TEST(DiffTest, NamesTheLineOfTheDiff) {
  EXPECT_EQ(refusal(k_text, k_head + "@@ -2,1 +2,1 @@\n-zwei\n+2\n").substr(0, 16), "diff:3: the hunk");
}

}  // namespace
}  // namespace tunesmith
