#include <filesystem>

#include "base/hash.h"
#include "case/case.h"
#include "case/lookup.h"
#include "fixture.h"

namespace tunesmith::testing {
namespace {

class LoadTest : public CaseFixture {};

TEST_F(LoadTest, ReadsEverythingOfAGoodCase) {
  const auto c = load();
  ASSERT_TRUE(c) << c.error().line();
  EXPECT_EQ(c->name, "gemm");
  EXPECT_EQ(c->backend, "cpu");
  EXPECT_EQ(c->dtype, "f32");
  EXPECT_EQ(c->source.files, std::vector{file("kernels/gemm.cpp")});
  EXPECT_EQ(c->source.editable, std::vector{file("kernels/gemm.cpp")});
  EXPECT_EQ(c->shapes[0].name, "m=8 n=64 k=32");
  EXPECT_EQ(c->shapes[0].weight, 2);
  EXPECT_EQ(c->shapes[1].name, "decode");
  EXPECT_EQ(c->shapes[1].dimensions, (std::vector<std::int64_t>{1, 64, 32}));
  EXPECT_EQ(c->held_out_shapes.size(), 1U);
  EXPECT_EQ(c->arguments.size(), 5U);
  EXPECT_EQ(std::get<Buffer>(c->arguments[0]).fill.high, 2);
  EXPECT_EQ(std::get<Buffer>(c->arguments[2]).role, Role::out);
  EXPECT_EQ(c->space.parameters().size(), 4U);
  EXPECT_EQ(c->baseline.label, "first guess");
  EXPECT_EQ(c->clock, ClockMode::cold);
  EXPECT_EQ(c->limits.build_seconds, 30);
  EXPECT_EQ(c->text_sha256, sha256_hex(read_file(c->file).value()));
}

TEST_F(LoadTest, WorksOutTheAmountsOfAShape) {
  const auto c = load();
  ASSERT_TRUE(c);
  EXPECT_EQ(buffer_extent(*c, std::get<Buffer>(c->arguments[0]), c->shapes[0]).value(),
            (std::vector<std::int64_t>{8, 32}));
  EXPECT_EQ(buffer_extent(*c, std::get<Buffer>(c->arguments[3]), c->shapes[0]).value(),
            (std::vector<std::int64_t>{2048}));
  EXPECT_EQ(scalar_value(*c, std::get<Scalar>(c->arguments[4]), c->shapes[0]).value(), 8);
  EXPECT_EQ(flops_of(*c, c->shapes[0]).value(), 2.0 * 8 * 64 * 32);
  EXPECT_EQ(bytes_of(*c, c->shapes[1]).value(), 4.0 * (32 + 32 * 64 + 64));
}

TEST_F(LoadTest, ACaseWithoutAWorkFormulaHasNoWork) {
  set("/work", nullptr);
  const auto c = load();
  ASSERT_TRUE(c);
  EXPECT_EQ(flops_of(*c, c->shapes[0]).value(), 0);
}

TEST_F(LoadTest, NamesFileLineColumnAndKey) {
  const std::string path = file("cases/place.json");
  write(path, "{\n  \"name\": \"x\",\n  \"sourc\": {}\n}\n");
  EXPECT_EQ(load_case(path).error().line(),
            path + ":3:12: /sourc: unknown key \"sourc\"; did you mean \"source\"?");
}

TEST_F(LoadTest, RefusesUnknownKeysAtEveryLevel) {
  for (const char* pointer :
       {"/tolerence", "/source/file", "/shapes/0/q", "/arguments/0/rol", "/arguments/0/fill/hi",
        "/reference/bind/d", "/tolerance/abs", "/baseline/confg", "/work/flop", "/limits/memory",
        "/held_out_shapes/0/weight"}) {
    EXPECT_HAS(refusal_of(pointer, "1"), "unknown key");
  }
}

TEST_F(LoadTest, RefusesAMissingKey) {
  for (const char* pointer : {"/name", "/source", "/shapes", "/arguments", "/reference", "/baseline",
                              "/source/files", "/source/entry"}) {
    EXPECT_HAS(refusal_of(pointer, nullptr), "is missing");
  }
}

TEST_F(LoadTest, RefusesTornAndOtherFiles) {
  const std::string path = file("cases/torn.json");
  EXPECT_EQ(load_case(path).error().code, ErrorCode::unreadable);
  write(path, "{\"name\": \"x\"");
  EXPECT_EQ(load_case(path).error().code, ErrorCode::unreadable);
  write(path, "[]");
  EXPECT_HAS(load_case(path).error().line(), "one JSON object");
  write(path, "");
  EXPECT_EQ(load_case(path).error().code, ErrorCode::unreadable);
  EXPECT_EQ(load_case(file("cases") + "/").error().code, ErrorCode::unreadable);
}

TEST_F(LoadTest, NamesAMissingSource) {
  EXPECT_HAS(refusal_of("/source/files/0", "\"../kernels/gone.cpp\""),
             "/source/files/0: the source file " + file("kernels/gone.cpp") + " does not exist");
  EXPECT_HAS(refusal_of("/source/editable/0", "\"gone.cpp\""), "does not exist");
  EXPECT_HAS(refusal_of("/source/files/0", "\"../kernels\""), "no regular file");
  EXPECT_HAS(refusal_of("/source/files", "[]"), "at least one file");
  EXPECT_HAS(refusal_of("/source/files/0", "\"\""), "file's path");
}

TEST_F(LoadTest, EveryEditableFileIsBuilt) {
  // A patch on a file that the build never sees would change nothing and count as new.
  EXPECT_HAS(refusal_of("/source/editable/1", "\"../kernels/gemm.h\""),
             "/source/editable/1: gemm.h is editable, but not one");
  set("/source/editable/1", "\"../kernels/gemm.h\"");
  set("/source/files/1", "\"../kernels/gemm.h\"");
  EXPECT_TRUE(load());
  write(file("other/gemm.h"), "");
  EXPECT_HAS(refusal_of("/source/files/2", "\"../other/gemm.h\""), "two files have the name gemm.h");
}

TEST_F(LoadTest, TheEntryIsACIdentifier) {
  for (const char* entry :
       {"\"2gemm\"", "\"ge mm\"", "\"ns::gemm\"", "\"\"", "\"while\"", "\"main\"", "\"tunesmith_call\""}) {
    EXPECT_HAS(refusal_of("/source/entry", entry), "/source/entry: ");
  }
}

TEST_F(LoadTest, TheNameCanNameAFolder) {
  for (const char* name : {"\"\"", "\"../x\"", "\".x\"", "\"a/b\"", "\"a b\"", "\"-x\""})
    EXPECT_HAS(refusal_of("/name", name), "cannot name a folder");
}

TEST_F(LoadTest, ShapesGiveEveryDimensionOnceAndPositive) {
  EXPECT_HAS(refusal_of("/shapes/0/m", nullptr), "the key \"m\" is missing");
  EXPECT_HAS(refusal_of("/shapes/0/m", "0"), "dimension m is 0, and must be at least 1");
  EXPECT_HAS(refusal_of("/shapes/0/m", "-1"), "must be at least 1");
  EXPECT_HAS(refusal_of("/shapes/0/m", "1.5"), "whole number");
  EXPECT_HAS(refusal_of("/shapes", "[]"), "at least one shape");
  EXPECT_HAS(refusal_of("/shapes/1/m", "8"), "given twice");
  EXPECT_HAS(refusal_of("/held_out_shapes/0", R"({"m": 8, "n": 64, "k": 32})"),
             "must differ from every scored one");
  EXPECT_HAS(refusal_of("/shapes/1/name", "\"m=8 n=64 k=32\""), "two shapes have the name");
}

TEST_F(LoadTest, WeightsArePositiveAndFinite) {
  EXPECT_HAS(refusal_of("/shapes/0/weight", "0"), "must be above 0");
  EXPECT_HAS(refusal_of("/shapes/0/weight", "-1"), "must be above 0");
  EXPECT_HAS(refusal_of("/shapes/0/weight", "\"1\""), "must be a number");
}

TEST_F(LoadTest, DimensionsAreDistinctNames) {
  EXPECT_HAS(refusal_of("/dimensions/2", "\"m\""), "listed twice");
  EXPECT_HAS(refusal_of("/dimensions/2", "\"weight\""), "means something else");
  EXPECT_HAS(refusal_of("/dimensions/2", "\"in\""), "means something else");
  EXPECT_HAS(refusal_of("/dimensions/2", "\"2k\""), "no C identifier");
}

TEST_F(LoadTest, ArgumentsAreUniqueAndComplete) {
  EXPECT_HAS(refusal_of("/arguments/1/name", "\"a\""), "two arguments have the name a");
  EXPECT_HAS(refusal_of("/arguments/1/name", "\"int\""), "word of C");
  EXPECT_HAS(refusal_of("/arguments/1/buffer", nullptr), "either \"buffer\" or \"scalar\"");
  EXPECT_HAS(refusal_of("/arguments/1/buffer", "\"f23\""), "unknown value \"f23\"; it is one of f64, f32");
  EXPECT_HAS(refusal_of("/arguments/1/role", "\"input\""), "unknown value \"input\"");
  EXPECT_HAS(refusal_of("/arguments/1/shape", "[]"), "at least one dimension");
  EXPECT_HAS(refusal_of("/arguments/4/scalar", "\"bf16\""), "pass it as f32");
  EXPECT_HAS(refusal_of("/arguments/1/name", "\"MR\""), "also a parameter");
  EXPECT_HAS(refusal_of("/arguments/2/role", "\"workspace\""), "nothing could be checked");
}

TEST_F(LoadTest, NamesInExpressionsAreChecked) {
  EXPECT_HAS(refusal_of("/arguments/0/shape/1", "\"kk\""), "kk");
  EXPECT_HAS(refusal_of("/work/flops", "\"2*m*q\""), "q");
  EXPECT_HAS(refusal_of("/constraints/0", "\"MR * NVR <= 16\""), "NVR");
  // A parameter may not decide how large a buffer is.
  EXPECT_HAS(refusal_of("/arguments/0/shape/1", "\"MR\""), "MR");
  EXPECT_HAS(refusal_of("/arguments/0/shape/1", "\"\""), "must be an expression");
  EXPECT_HAS(refusal_of("/constraints/0", "\" \""), "must be an expression");
}

TEST_F(LoadTest, AnExpressionMayBeAPlainNumber) {
  set("/arguments/3/shape/0", "64");
  const auto c = load();
  ASSERT_TRUE(c) << c.error().line();
  EXPECT_EQ(buffer_extent(*c, std::get<Buffer>(c->arguments[3]), c->shapes[0]).value(),
            (std::vector<std::int64_t>{64}));
}

TEST_F(LoadTest, AmountsAreCheckedAtEveryShape) {
  EXPECT_HAS(refusal_of("/arguments/3/shape/0", "\"m-4\""),
             "at shape \"decode\": is -3, and must be at least 1");
  EXPECT_HAS(refusal_of("/arguments/3/shape/0", "\"k//m*0\""), "must be at least 1");
  EXPECT_HAS(refusal_of("/arguments/3/shape/0", "\"10**18\""), "");
  EXPECT_HAS(refusal_of("/arguments/3/shape/0", "\"10**10\""), "above the limit of 4096 MiB");
  EXPECT_HAS(refusal_of("/arguments/4/value", "\"2**31\""), "does not fit into i32");
  EXPECT_HAS(refusal_of("/arguments/4/value", "\"m/3\""), "no whole number");
  EXPECT_HAS(refusal_of("/work/flops", "\"m-1\""), "must be a positive number");
}

TEST_F(LoadTest, FillsFitTheirBuffers) {
  EXPECT_HAS(refusal_of("/arguments/0/fill", R"({"kind": "uniform", "low": 1, "high": 1})"),
             "is not below high");
  EXPECT_HAS(refusal_of("/arguments/0/fill", R"({"kind": "normal", "deviation": 0})"), "above 0");
  EXPECT_HAS(refusal_of("/arguments/0/fill", R"({"kind": "integers", "low": 0.5, "high": 2})"),
             "whole numbers");
  EXPECT_HAS(refusal_of("/arguments/0/fill", R"({"kind": "gauss"})"), "unknown value");
  EXPECT_HAS(refusal_of("/arguments/0/fill", R"({"kind": "uniform", "value": 1})"), "unknown key");
  EXPECT_HAS(refusal_of("/arguments/2/fill", R"({"kind": "uniform"})"), "poisoned, not filled");
  EXPECT_HAS(
      refusal_of(
          "/arguments/0",
          R"({"name": "a", "buffer": "i8", "shape": ["m"], "role": "in", "fill": {"kind": "integers", "low": -8, "high": 128}})"),
      "does not fit into i8");
  EXPECT_HAS(
      refusal_of(
          "/arguments/0",
          R"({"name": "a", "buffer": "i8", "shape": ["m"], "role": "in", "fill": {"kind": "uniform"}})"),
      "use \"integers\"");
}

TEST_F(LoadTest, ABuiltinReferenceIsBoundWhole) {
  EXPECT_HAS(refusal_of("/reference/builtin", "\"gem\""), "did you mean \"gemm\"?");
  EXPECT_HAS(refusal_of("/reference/bind/b", nullptr),
             "role b of gemm is not bound; gemm takes a[m,k] b[k,n] c[m,n]");
  EXPECT_HAS(refusal_of("/reference/bind/b", "\"bb\""), "no buffer argument");
  EXPECT_HAS(refusal_of("/reference/bind/b", "\"m\""), "no buffer argument");
  EXPECT_HAS(refusal_of("/reference/bind/b", "\"a\""), "bound to both a and b");
  EXPECT_HAS(refusal_of("/reference/bind/c", "\"b\""), "its role is not out or inout");
  EXPECT_HAS(refusal_of("/reference/bind/a", "\"c\""), "its role is not in");
  EXPECT_HAS(refusal_of("/arguments/1/shape", R"(["k*n"])"), "has 1 dimensions, and role b needs 2");
  EXPECT_HAS(refusal_of("/arguments/1/shape", R"(["n", "k"])"), "side 1 of b is 64, but side 2 of a is 32");
  EXPECT_HAS(refusal_of("/arguments/1/buffer", "\"i32\""), "");
  EXPECT_HAS(refusal_of("/reference/bind", nullptr), "is missing");
  EXPECT_HAS(refusal_of("/reference", "{}"), "either \"builtin\" or \"source\"");
}

TEST_F(LoadTest, AnOutputThatNobodyComputesIsRefused) {
  set("/arguments/3/role", "\"out\"");
  EXPECT_HAS(refusal(), "the output pack is not bound, so it would never be checked");
}

TEST_F(LoadTest, AReferenceMayBeASource) {
  set("/reference",
      R"({"source": {"files": ["../kernels/reference.cpp"], "entry": "gemm_reference", "flags": ["-O2", "-lm"]}})");
  const auto c = load();
  ASSERT_TRUE(c) << c.error().line();
  EXPECT_EQ(c->reference.source->entry, "gemm_reference");
  EXPECT_EQ(c->reference.source->flags, (std::vector<std::string>{"-O2", "-lm"}));
}

TEST_F(LoadTest, TheBaselineIsLegal) {
  set("/baseline/config/NRV", "4");
  set("/baseline/config/MR", "8");
  const std::string line = refusal();
  EXPECT_HAS(line, "/baseline/config: the baseline");
  EXPECT_HAS(line, "MR * NRV <= 16");
  EXPECT_HAS(refusal_of("/baseline/config/MR", "3"), "3");
  EXPECT_HAS(refusal_of("/baseline/config/MR", nullptr), "MR");
  EXPECT_HAS(refusal_of("/baseline", "{}"), "either \"config\" or \"source\"");
}

TEST_F(LoadTest, ABaselineMayBeALibraryCall) {
  set("/baseline",
      R"({"source": {"files": ["../kernels/reference.cpp"], "entry": "gemm_reference", "flags": ["-lopenblas"]}, "label": "OpenBLAS"})");
  const auto c = load();
  ASSERT_TRUE(c) << c.error().line();
  EXPECT_EQ(c->baseline.kind, Baseline::Kind::source);
  EXPECT_EQ(c->baseline.source->flags, std::vector<std::string>{"-lopenblas"});
  EXPECT_HAS(refusal_of("/baseline/source/flags/0", "\"-Wl,-rpath,.\""), "past this list");
}

TEST_F(LoadTest, TheToleranceIsFiniteAndNotNegative) {
  EXPECT_HAS(refusal_of("/tolerance/absolute", "-1e-3"), "at least 0");
  EXPECT_HAS(refusal_of("/tolerance/relative", "-1"), "at least 0");
  EXPECT_HAS(refusal_of("/tolerance/absolute", "\"1e-3\""), "must be a number");
  EXPECT_HAS(refusal_of("/tolerance/bit_exact", "true"), "leaves no room");
  set("/tolerance", R"({"bit_exact": true})");
  const auto c = load();
  ASSERT_TRUE(c);
  EXPECT_EQ(c->tolerance.absolute, 0);
}

TEST_F(LoadTest, AHugeNumberIsNoNumber) {
  // 1e999 is valid JSON text and no finite double.
  write(file("cases/huge.json"),
        R"({"name": "x", "source": {"files": ["../kernels/gemm.cpp"], "entry": "gemm"},
    "shapes": [{}], "arguments": [{"name": "c", "buffer": "f32", "shape": [4], "role": "out"}],
    "tolerance": {"absolute": 1e999}, "reference": {}, "baseline": {"config": {}}})");
  EXPECT_FALSE(load_case(file("cases/huge.json")));
}

TEST_F(LoadTest, ParametersAreMacros) {
  EXPECT_HAS(refusal_of("/parameters/2X", "[1]"), "no C identifier");
  EXPECT_HAS(refusal_of("/parameters/int", "[1]"), "change the meaning");
  EXPECT_HAS(refusal_of("/parameters/real", "[1]"), "change the meaning");
  EXPECT_HAS(refusal_of("/parameters/m", "[1]"), "would replace it");
  EXPECT_HAS(refusal_of("/parameters/gemm", "[1]"), "would replace it");
  EXPECT_HAS(refusal_of("/parameters/NEW", "[]"), "has no values");
  EXPECT_HAS(refusal_of("/parameters/NEW", "[1, 1]"), "listed twice");
  EXPECT_HAS(refusal_of("/parameters/NEW", "[1, 1.0]"), "listed twice");
  EXPECT_HAS(refusal_of("/parameters/NEW", "[1, \"a\"]"), "one kind");
  EXPECT_HAS(refusal_of("/parameters/NEW", "[null]"), "/parameters/NEW/0");
  EXPECT_HAS(refusal_of("/parameters/NEW", "1"), "must be an array");
}

TEST_F(LoadTest, StringValuesAreWordsThatNobodyMisreads) {
  for (const char* value : {"\"a b\"", "\"a;b\"", "\"$(id)\"", "\"a\\\"b\"", "\"a(b)\"", "\"\"", "\"a\\nb\"",
                            "\"a,b\"", "\"#\""}) {
    EXPECT_HAS(refusal_of("/parameters/LAYOUT/1", value), "cannot be a macro");
  }
}

TEST_F(LoadTest, ConstraintsThatNothingMeetsAreRefused) {
  EXPECT_HAS(refusal_of("/constraints/0", "\"MR > 100\""), "/constraints/0: no configuration is legal");
}

TEST_F(LoadTest, FlagsAreChecked) {
  EXPECT_HAS(refusal_of("/flags/0", "\"-fplugin=x.so\""),
             "/flags/0: the flag \"-fplugin=x.so\" is not allowed: it loads a program");
  EXPECT_HAS(refusal_of("/flags/0", "\"-lm\""), "candidates link no libraries");
  EXPECT_HAS(refusal_of("/flags/0", "\"-DMR=2\""), "MR is a parameter");
  EXPECT_HAS(refusal_of("/flags/0", "\"-I/etc\""), "must lie inside");
  EXPECT_HAS(refusal_of("/flags/0", "\"-DX={NONE}\""), "names no parameter");
  EXPECT_HAS(refusal_of("/flags/0", "\"-DX={MR\""), "never closes");
}

TEST_F(LoadTest, AFlagIsCheckedWithEveryValueOfItsParameter) {
  set("/flags/2", "\"-mprefer-vector-width={MR}\"");
  ASSERT_TRUE(load());
  set("/parameters/OPT", R"(["-O2", "-fplugin"])");
  set("/baseline/config/OPT", "\"-O2\"");
  ASSERT_TRUE(load());
  set("/flags/3", "\"{OPT}\"");
  EXPECT_HAS(refusal(), "it loads a program into the compiler");
}

TEST_F(LoadTest, AnIncludeFolderBesideASourceIsAllowed) {
  set("/flags/0", "\"-I../kernels\"");
  const auto c = load();
  ASSERT_TRUE(c) << c.error().line();
  EXPECT_EQ(c->flags[0], "-I" + std::filesystem::weakly_canonical(file("kernels")).string());
}

TEST_F(LoadTest, LimitsAreSane) {
  EXPECT_HAS(refusal_of("/limits/build_seconds", "0"), "above 0");
  EXPECT_HAS(refusal_of("/limits/call_seconds", "1e9"), "at most");
  EXPECT_HAS(refusal_of("/limits/threads", "0"), "must be 1 to");
  EXPECT_HAS(refusal_of("/limits/memory_mib", "-5"), "must be 1 to");
  EXPECT_HAS(refusal_of("/clock", "\"hot\""), "it is one of warm, cold");
}

TEST_F(LoadTest, ACommandCaseNeedsALibraryOrARunLine) {
  set("/backend", "\"command\"");
  EXPECT_HAS(refusal(), "remove \"source\"");
  set("/source", nullptr);
  EXPECT_HAS(refusal(), "the key \"command\" is missing");
  set("/command", R"({"build": ["make", "MR={MR}"], "library": "build/libx.so", "entry": "gemm"})");
  set("/flags", nullptr);
  const auto c = load();
  ASSERT_TRUE(c) << c.error().line();
  EXPECT_EQ(c->command->library, file("cases/build/libx.so"));
  EXPECT_EQ(c->source.entry, "gemm");
  EXPECT_HAS(refusal_of("/command/build/1", "\"MR={MRR}\""), "neither a parameter");
  EXPECT_HAS(refusal_of("/command/entry", nullptr), "the key \"entry\" is missing");
  EXPECT_HAS(refusal_of("/command", R"({"build": ["make"]})"), "needs \"library\"");
  EXPECT_HAS(refusal_of("/command/build", "[]"), "at least the program");
}

TEST_F(LoadTest, ASelfReportingCommandNeedsNoArguments) {
  set("/backend", "\"command\"");
  for (const char* pointer : {"/source", "/flags", "/arguments", "/reference"}) set(pointer, nullptr);
  set("/command", R"({"run": ["python3", "bench.py", "--out", "{result}"]})");
  const auto c = load();
  ASSERT_TRUE(c) << c.error().line();
  EXPECT_TRUE(c->command->library.empty());
}

TEST_F(LoadTest, UnknownBackendsAreNamed) {
  EXPECT_HAS(refusal_of("/backend", "\"cpus\""), "did you mean \"cpu\"?");
  EXPECT_HAS(refusal_of("/command", "{}"), "backend cpu has no command");
}

TEST_F(LoadTest, ABareNameIsLookedUp) {
  ASSERT_TRUE(load());
  const std::string before = std::filesystem::current_path().string();
  std::filesystem::current_path(file(""));
  const auto found = find_case_file("gemm");
  const auto near = find_case_file("gemn");
  std::filesystem::current_path(before);
  ASSERT_TRUE(found) << found.error().line();
  EXPECT_EQ(std::filesystem::canonical(*found), std::filesystem::canonical(file("cases/gemm.json")));
  EXPECT_HAS(near.error().line(), "there is no case named \"gemn\"; did you mean \"gemm\"?");
  EXPECT_EQ(find_case_file("").error().code, ErrorCode::usage);
}

TEST_F(LoadTest, DtypesKnowTheirNamesAndSizes) {
  for (const char* name :
       {"f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8"}) {
    const auto dtype = dtype_from_name(name);
    ASSERT_TRUE(dtype) << name;
    EXPECT_STREQ(name_of(*dtype), name);
    EXPECT_EQ(size_of(*dtype) * 8,
              std::stoul(std::string(name).substr(std::string(name).find_first_of("0123456789"))));
  }
  EXPECT_FALSE(dtype_from_name("float"));
  EXPECT_TRUE(is_float(Dtype::bf16));
  EXPECT_FALSE(is_float(Dtype::i8));
}

}  // namespace
}  // namespace tunesmith::testing
