#include <gtest/gtest.h>

#include "case/candidate.h"

namespace tunesmith {
namespace {

void expect_same(const char* a, const char* b) {
  EXPECT_EQ(normalise_source(a), normalise_source(b)) << a << "\n---\n" << b;
}
void expect_different(const char* a, const char* b) {
  EXPECT_NE(normalise_source(a), normalise_source(b)) << a << "\n---\n" << b;
}

TEST(NormaliseTest, CommentsAndSpaceDoNotCount) {
  expect_same("int a = 1; // one\nint b;", "int a=1;\n\n\n  int /* two */ b ;\r\n");
  expect_same("f(a , b+c);", "f ( a,b + c ) ;");
  expect_same("x = -y;", "x=-y;");
  expect_same("a\tb", "a b");
  expect_same("int a/**/b;", "int a b;");
}

TEST(NormaliseTest, TokensAreNeverJoinedOrSplit) {
  expect_different("int ab;", "int a b;");
  expect_different("a + +b", "a ++b");
  expect_different("a - -b", "a --b");
  expect_different("a & &b", "a && b");
  expect_different("x = 1e +2;", "x = 1e+2;");
  expect_different("a / *p", "a b");
  expect_same("size +1", "size+1");
  expect_different("a<b<c> >", "a<b<c>>");
  expect_different("L \"x\"", "L\"x\"");
}

TEST(NormaliseTest, LiteralsAreKept) {
  expect_different("s = \"a  b\";", "s = \"a b\";");
  expect_different("s = \"// no comment\";", "s = \"\";");
  expect_different("c = '\"'; /* \" */ d", "c = '\"'; e");
  expect_different("s = \"\\\"/*\"; a /**/", "s = \"\\\"/*\"; b /**/");
  expect_same("x = 1'000'000; // it's", "x = 1'000'000;");
  EXPECT_EQ(normalise_source("R\"d(a  // b\n)\" )d\"  ;"), "R\"d(a  // b\n)\" )d\";");
}

TEST(NormaliseTest, DirectivesKeepTheirLines) {
  EXPECT_EQ(normalise_source("  #  define   A   1 // one\nint x;\n"), "#define A 1\nint x;");
  expect_different("#define F(x) x\n", "#define F (x) x\n");
  expect_same("#define A \\\n 1\nint b;", "#define A 1\nint b;");
  expect_different("#define A\nint b;", "#define A int b;");
  expect_same("#if 1 /* a\nb */ + 2\n#endif", "#if 1 + 2\n#endif\n");
  expect_same("#define A", "#define A\n");
}

TEST(NormaliseTest, HeaderNamesMayHoldSlashes) {
  expect_different("#include <a//b.h>\n", "#include <a>\n");
  expect_same("#include <a.h>  // comment\n", "#include <a.h>\n");
}

TEST(NormaliseTest, LineSplicesAreTakenOutFirst) {
  expect_same("in\\\nt a;", "int a;");
  expect_same("a // comment \\\n still comment\nb", "a b");
  expect_same("s = \"ab\\\ncd\";", "s = \"abcd\";");
  expect_same("/\\\n/ comment\na", "a");
}

TEST(NormaliseTest, TornTextEndsQuietly) {
  EXPECT_EQ(normalise_source(""), "");
  EXPECT_EQ(normalise_source("a /* never closed"), "a");
  EXPECT_EQ(normalise_source("\"never closed"), "\"never closed");
  EXPECT_EQ(normalise_source("a\\"), "a\\");
  EXPECT_EQ(normalise_source("R\"(never closed"), "R\"(never closed");
  EXPECT_EQ(normalise_source("#error don't\nint a;"), "#error don't\nint a;");
}

TEST(NormaliseTest, IsItsOwnFixedPoint) {
  for (const char* text :
       {"int a = b + +c ; // x\n#define A(x) ( x )\nfoo ( ) ;", "a\n#if B\n c\n#endif\nd", "x = 1 . f;"}) {
    const std::string once = normalise_source(text);
    EXPECT_EQ(normalise_source(once), once);
  }
}

}  // namespace
}  // namespace tunesmith
