#include "bench/glue.h"

#include <gtest/gtest.h>

#include "support/tiny_case.h"

namespace tunesmith::bench {
namespace {

TEST(GlueTest, CallsTheEntryWithEachArgumentInItsType) {
  TinyCase tiny;
  const Case c = tiny.load();
  EXPECT_EQ(glue_source(c, c.source),
            "#include \"kernel.cpp\"\n"
            "extern \"C\" void tunesmith_call(void* const* tunesmith_arg);\n"
            "extern \"C\" void tunesmith_call(void* const* tunesmith_arg) {\n"
            "  product((float*)tunesmith_arg[0], (float*)tunesmith_arg[1], (float*)tunesmith_arg[2], "
            "*(int*)tunesmith_arg[3], "
            "*(int*)tunesmith_arg[4], *(int*)tunesmith_arg[5]);\n"
            "}\n");
}

TEST(GlueTest, IsPlainCForACKernel) {
  TinyCase tiny;
  tiny.write("kernel.c", k_tiny_kernel);
  tiny.set("/source", R"({"language": "c", "files": ["kernel.c"], "entry": "product"})");
  const Case c = tiny.load();
  EXPECT_EQ(glue_source(c, c.source).find("extern"), std::string::npos);
}

TEST(GlueTest, WidensFloatsAndLeavesIntegers) {
  TinyCase tiny;
  tiny.write("reference.cpp", "");
  tiny.set("/reference", R"({"source": {"language": "c++", "files": ["reference.cpp"], "entry": "exact"}})");
  tiny.set("/arguments/0/buffer", "\"bf16\"").set("/arguments/1/buffer", "\"i8\"");
  const Case c = tiny.load();
  const std::string plain = glue_source(c, c.source);
  EXPECT_NE(plain.find("(unsigned short*)tunesmith_arg[0]"), std::string::npos) << plain;
  const std::string wide = glue_source(c, c.source, GlueKind::plain, true);
  EXPECT_NE(wide.find("(double*)tunesmith_arg[0]"), std::string::npos) << wide;
  EXPECT_NE(wide.find("(signed char*)tunesmith_arg[1]"), std::string::npos) << wide;
  EXPECT_NE(wide.find("*(int*)tunesmith_arg[3]"), std::string::npos) << wide;
}

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t n = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

TEST(GlueTest, TheCanariesSpoilTheFirstOutputOrDoTheWorkTwice) {
  TinyCase tiny;
  const Case c = tiny.load();
  const std::string wrong = glue_source(c, c.source, GlueKind::wrong);
  EXPECT_NE(wrong.find("((unsigned char*)tunesmith_arg[2])[sizeof(float) - 1] ^="), std::string::npos)
      << wrong;
  EXPECT_EQ(count(wrong, "product("), 1U);
  EXPECT_EQ(count(glue_source(c, c.source, GlueKind::slow), "product("), 2U);
}

}  // namespace
}  // namespace tunesmith::bench
