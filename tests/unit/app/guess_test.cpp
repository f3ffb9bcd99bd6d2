#include "app/guess.h"

#include <gtest/gtest.h>

#include "app/source_text.h"

namespace tunesmith::app {
namespace {

GuessedKernel guess(std::string_view source, const std::string& file = "k.cpp",
                    const std::string& entry = "") {
  const auto kernel = guess_kernel(source, file, entry);
  EXPECT_TRUE(kernel) << (kernel ? "" : kernel.error().line());
  return kernel.value_or(GuessedKernel{});
}

std::string refusal(std::string_view source, const std::string& file = "k.cpp",
                    const std::string& entry = "") {
  const auto kernel = guess_kernel(source, file, entry);
  EXPECT_FALSE(kernel);
  return kernel ? "" : kernel.error().line();
}

TEST(GuessKernelTest, ReadsSidesFromSubscriptsAndLoops) {
  const GuessedKernel kernel = guess(
      "#ifndef TILE\n#define TILE 8\n#endif\n"
      "extern \"C\" void mm(const float* __restrict a, const float *b, float* c, int m, int n, int k) {\n"
      "  for (int i = 0; i < m; ++i) for (int j = 0; j < n; ++j) {\n"
      "    float s = 0; for (int p = 0; p < k; ++p) s += a[i*k+p]*b[p*n+j];\n    c[i*n+j] = s; } }\n");
  EXPECT_EQ(kernel.entry, "mm");
  ASSERT_EQ(kernel.arguments.size(), 6U);
  EXPECT_EQ(kernel.arguments[0].sides, (std::vector<std::string>{"m", "k"}));
  EXPECT_EQ(kernel.arguments[1].sides, (std::vector<std::string>{"k", "n"}));
  EXPECT_EQ(kernel.arguments[2].sides, (std::vector<std::string>{"m", "n"}));
  EXPECT_EQ(kernel.arguments[0].role, "in");
  EXPECT_EQ(kernel.arguments[2].role, "out");
  EXPECT_EQ(kernel.arguments[5].type, "i32");
  ASSERT_EQ(kernel.parameters.size(), 1U);
  EXPECT_EQ(kernel.parameters[0].name, "TILE");
  EXPECT_EQ(kernel.parameters[0].fallback, "8");
}

TEST(GuessKernelTest, AMacroOfOneIsASizeUnlessTheSourceAsksWhetherItIsSet) {
  const GuessedKernel kernel = guess(
      "#ifndef STEP\n#define STEP 1\n#endif\n#ifndef PACK\n#define PACK 1\n#endif\n#ifndef ALIGNED\n#define "
      "ALIGNED 1\n#endif\n"
      "void f(int n, const double* x, double* y) {\n#if PACK\n#endif\n  if (ALIGNED) n += 0;\n"
      "  for (int i = 0; i < n; i += STEP) y[i] = x[i]; }",
      "k.c");
  ASSERT_EQ(kernel.parameters.size(), 3U);
  EXPECT_FALSE(kernel.parameters[0].is_switch);
  EXPECT_TRUE(kernel.parameters[1].is_switch);
  EXPECT_TRUE(kernel.parameters[2].is_switch);
}

TEST(GuessKernelTest, BlockedLoopsLeadToTheirDimension) {
  const GuessedKernel kernel = guess(
      "void f(int n, const double* x, double* y) { for (int b = 0; b < n; b += 8)"
      " for (int i = b; i < b + 8; i++) y[i] = x[i]; }",
      "k.c");
  EXPECT_EQ(kernel.arguments[2].sides, (std::vector<std::string>{"n"}));
  EXPECT_EQ(kernel.language, "c");
}

TEST(GuessKernelTest, WhatIsReadBeforeItIsWrittenIsInout) {
  const GuessedKernel kernel = guess(
      "extern \"C\" void axpy(int n, float a, const float* x, float* y) {"
      " for (int i = 0; i < n; ++i) y[i] = a * x[i] + y[i]; }");
  EXPECT_EQ(kernel.arguments[3].role, "inout");
  EXPECT_FALSE(kernel.arguments[1].pointer);
  EXPECT_EQ(kernel.arguments[1].type, "f32");
}

TEST(GuessKernelTest, LinkageBlocksAndCommentsAndStaticsAreUnderstood) {
  const GuessedKernel kernel = guess(
      "// extern \"C\" void no(float* x) {}\n/* void no2(float*y) {} */\n"
      "extern \"C\" {\nstatic void helper(float* z) { z[0] = 1; }\nvoid yes(unsigned int n, float* out) { "
      "out[0] = n; }\n}\n");
  EXPECT_EQ(kernel.entry, "yes");
  EXPECT_EQ(kernel.arguments[0].type, "u32");
}

TEST(GuessKernelTest, ADeclarationIsNoDefinition) {
  EXPECT_NE(refusal("extern \"C\" void f(float* x);\nint main() {}\n").find("no function void NAME"),
            std::string::npos);
}

TEST(GuessKernelTest, AnEntryThatIsNotThereNamesThoseThatAre) {
  const std::string line = refusal("void f(float* x) { x[0] = 1; }", "k.c", "g");
  EXPECT_NE(line.find("there is f"), std::string::npos) << line;
}

TEST(GuessKernelTest, AnUnknownTypeNamesFileAndLine) {
  const std::string line = refusal("\n\nvoid f(struct thing* x) { x[0].a = 1; }", "k.c");
  EXPECT_NE(line.find("k.c:3"), std::string::npos) << line;
  EXPECT_NE(line.find("thing"), std::string::npos) << line;
}

TEST(GuessKernelTest, AKernelThatCanWriteNothingIsRefused) {
  EXPECT_NE(refusal("void f(int n, const float* x) { (void)x[n]; }", "k.c").find("no pointer"),
            std::string::npos);
}

TEST(GuessKernelTest, TornTextIsRefusedAndDoesNotHang) {
  for (const char* text :
       {"", "extern \"C\" {", "extern \"C\" void f(", "void f(float* x) {", "#", "\"", "/*", "extern"}) {
    EXPECT_FALSE(guess_kernel(text, "k.cpp", "")) << text;
    EXPECT_FALSE(guess_kernel(text, "k.c", "")) << text;
  }
}

TEST(DoubleTwinTest, ReplacesWholeWordsOnly) {
  const std::string twin = double_twin("float floaty = sqrtf(x); double d;");
  EXPECT_NE(twin.find("real floaty = sqrt(x); real d;"), std::string::npos) << twin;
  EXPECT_NE(twin.find("#define real double"), std::string::npos);
}

TEST(GuessCaseTest, ADefaultIsAlwaysAmongItsValues) {
  GuessedKernel kernel = guess("void f(int n, float* y) { for (int i = 0; i < n; ++i) y[i] = 1; }", "k.c");
  for (const char* value : {"0", "1", "3", "8", "100"}) {
    kernel.parameters = {{"P", value, 1}};
    const GuessedCase guessed = guess_case(kernel, "f", "k.c", "k.reference.c");
    const json::array& values = guessed.json.at("parameters").at("P").as_array();
    const auto now = guessed.json.at("baseline").at("config").at("P");
    EXPECT_NE(std::find(values.begin(), values.end(), now), values.end()) << value;
  }
  kernel.parameters = {{"P", "-1", 1}, {"Q", "float", 2}};
  EXPECT_TRUE(guess_case(kernel, "f", "k.c", "r.c").json.at("parameters").as_object().empty());
}

TEST(SourceTextTest, CommentsGoAndLinesStay) {
  EXPECT_EQ(without_comments("a /* x\ny */ b // c\nd \"//no\""), "a     \n     b     \nd \"//no\"");
  EXPECT_EQ(without_comments("/* open"), "       ");
}

}  // namespace
}  // namespace tunesmith::app
