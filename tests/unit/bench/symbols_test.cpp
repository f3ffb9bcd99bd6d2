#include "bench/symbols.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/file.h"
#include "base/random.h"
#include "os/process.h"

namespace tunesmith::bench {
namespace {

/// The bytes of a library that the machine's own compiler makes of `source`.
std::string library(const std::string& source, const std::vector<std::string>& flags = {"-nostartfiles"},
                    const std::string& ending = ".c") {
  auto folder = TempDir::make();
  if (!folder || !write_scratch(folder->path() + "/k" + ending, source)) return {};
  os::Command command;
  command.argv = {ending == ".c" ? "/usr/bin/gcc" : "/usr/bin/g++",
                  "-shared",
                  "-fPIC",
                  "-O1",
                  "-w",
                  "-o",
                  folder->path() + "/k.so",
                  folder->path() + "/k" + ending};
  command.argv.insert(command.argv.end(), flags.begin(), flags.end());
  command.environment = {"PATH=/usr/bin:/bin"};
  const os::Finished built = os::run(command);
  EXPECT_TRUE(built.ok()) << built.output;
  auto bytes = read_file(folder->path() + "/k.so");
  return bytes ? *bytes : std::string();
}

std::string refusal(const std::string& bytes, int threads = 1) {
  const auto facts = read_library(bytes);
  return facts ? forbidden_symbol(*facts, threads) : facts.error().line();
}

bool has(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

constexpr const char* k_honest =
    "#include <math.h>\n#include <string.h>\n"
    "void kernel(float* x, int n) { for (int i = 0; i < n; ++i) x[i] = expf(x[i]) + powf(x[i], 3); memset(x "
    "+ n, 0, (unsigned)n); }\n";

TEST(SymbolsTest, ReadsWhatALibraryAsksFor) {
  const auto facts = read_library(library(k_honest, {"-nostartfiles", "-lm"}));
  ASSERT_TRUE(facts) << facts.error().line();
  EXPECT_TRUE(has(facts->imports, "expf"));
  EXPECT_TRUE(has(facts->needed, "libm.so.6"));
  EXPECT_EQ(facts->constructors, 0U);
  EXPECT_FALSE(facts->search_path);
  EXPECT_GT(facts->code_bytes, 0U);
  EXPECT_EQ(forbidden_symbol(*facts, 1), "");
}

TEST(SymbolsTest, NamesTheForbiddenImport) {
  const std::vector<std::pair<const char*, const char*>> table = {
      {"int getpid(void); void k(int* x) { *x = getpid(); }", "getpid"},
      {"void exit(int); void k(void) { exit(0); }", "exit"},
      {"void* dlopen(const char*, int); void k(void) { dlopen(\"x\", 1); }", "dlopen"},
      {"int open(const char*, int); void k(void) { open(\"/proc/self/mem\", 2); }", "open"},
      {"int clock_gettime(int, void*); void k(void* t) { clock_gettime(0, t); }", "clock_gettime"},
      {"int pthread_create(void*, void*, void*, void*); void k(void* t) { pthread_create(t, t, t, t); }",
       "pthread_create"},
      {"int mprotect(void*, unsigned long, int); void k(void* t) { mprotect(t, 1, 7); }", "mprotect"},
      {"long syscall(long, ...); void k(void) { syscall(39); }", "syscall"},
      {"extern int undefined_thing; void k(int* x) { *x = undefined_thing; }", "undefined_thing"},
  };
  for (const auto& [source, name] : table) {
    EXPECT_NE(refusal(library(source)).find(name), std::string::npos)
        << name << ": " << refusal(library(source));
  }
}

TEST(SymbolsTest, ThreadsAreAllowedOnlyWhereTheyAreDeclared) {
  const std::string bytes =
      library("void k(float* x, int n) {\n#pragma omp parallel for\nfor (int i = 0; i < n; ++i) x[i] *= 2; }",
              {"-nostartfiles", "-fopenmp"});
  EXPECT_NE(refusal(bytes, 1), "");
  EXPECT_EQ(refusal(bytes, 4), "");
  EXPECT_NE(refusal(library("#include <thread>\nextern \"C\" void k() { std::thread([] {}).join(); }",
                            {"-nostartfiles"}, ".cpp")),
            "");
}

TEST(SymbolsTest, FindsEveryFormOfAConstructor) {
  EXPECT_NE(refusal(library("static int x; __attribute__((constructor)) static void before(void) { x = 1; } "
                            "int k(void) { return x; }"))
                .find("constructor"),
            std::string::npos);
  EXPECT_NE(
      refusal(library("struct S { S(); int x; }; S::S() { x = 3; } S s; extern \"C\" int k() { return s.x; }",
                      {"-nostartfiles"}, ".cpp"))
          .find("constructor"),
      std::string::npos);
  EXPECT_NE(
      refusal(library("int x; void _init(void) { x = 1; } int k(void) { return x; }")).find("constructor"),
      std::string::npos);
}

TEST(SymbolsTest, FindsALibrarySearchPathAndForeignLibraries) {
  EXPECT_NE(refusal(library(k_honest, {"-nostartfiles", "-lm", "-Wl,-rpath,/tmp"})).find("rpath"),
            std::string::npos);
  EXPECT_NE(refusal(library(k_honest, {"-nostartfiles", "-lm", "-Wl,-rpath,/tmp", "-Wl,--disable-new-dtags"}))
                .find("rpath"),
            std::string::npos);
  EXPECT_NE(refusal(library(k_honest, {"-nostartfiles", "-lm", "-Wl,--no-as-needed", "-lresolv"}))
                .find("libresolv"),
            std::string::npos);
}

TEST(SymbolsTest, VectorMathAndCompilerHelpersAreAllowed) {
  LibraryFacts facts;
  facts.imports = {"_ZGVdN8v_expf",
                   "__expf_finite",
                   "sincosf",
                   "memcpy",
                   "__cxa_finalize",
                   "_Znwm",
                   "_ZdlPvm",
                   "__extendhfsf2",
                   "__cpu_model",
                   "_ZSt17__throw_bad_allocv",
                   ""};
  EXPECT_EQ(forbidden_symbol(facts, 1), "");
  for (const char* name :
       {"_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE",
        "_ZNSt6chrono3_V212steady_clock3nowEv",
        "_ZNSt14basic_ifstreamIcSt11char_traitsIcEEC1EPKcSt13_Ios_Openmode", "_ZSt4cout_file", "expensive",
        "f", "l"}) {
    facts.imports = {name};
    EXPECT_NE(forbidden_symbol(facts, 1), "") << name;
  }
}

TEST(SymbolsTest, WhatIsNoElfFileIsAnError) {
  EXPECT_FALSE(read_library(""));
  EXPECT_FALSE(
      read_library("\x7f"
                   "ELF"));
  EXPECT_FALSE(read_library(std::string(10000, '\0')));
  EXPECT_FALSE(read_library("#!/bin/sh\n" + std::string(1000, 'x')));
}

TEST(SymbolsTest, EveryTruncationIsAnErrorAndNeverACrash) {
  const std::string whole = library(k_honest, {"-nostartfiles", "-lm"});
  ASSERT_GT(whole.size(), 1000U);
  for (std::size_t n = 0; n < whole.size(); n += 64) {
    const std::string part = whole.substr(0, n);
    EXPECT_FALSE(read_library(part)) << n;  // the section headers stand at the end
  }
}

TEST(SymbolsTest, DamagedBytesNeverCrash) {
  const std::string whole = library(k_honest, {"-nostartfiles", "-lm"});
  Rng rng(9);
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = whole;
    // The headers are where the damage tells: half of it goes there.
    const std::size_t limit = round % 2 == 0 ? 64 : damaged.size();
    const std::size_t at = round % 4 == 1 ? damaged.size() - 1 - rng.below(1500) : rng.below(limit);
    damaged[at] = static_cast<char>(rng.next());
    if (const auto facts = read_library(damaged)) (void)forbidden_symbol(*facts, 1);
  }
}

TEST(SymbolsTest, ALibraryThatHidesItsSectionsIsMalformed) {
  std::string bytes = library(k_honest, {"-nostartfiles", "-lm"});
  ASSERT_GT(bytes.size(), sizeof(Elf64_Ehdr));
  const std::uint16_t none = 0;
  std::memcpy(bytes.data() + offsetof(Elf64_Ehdr, e_shnum), &none, sizeof none);
  EXPECT_FALSE(read_library(bytes));
}

}  // namespace
}  // namespace tunesmith::bench
