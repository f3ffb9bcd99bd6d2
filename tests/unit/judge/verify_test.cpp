#include <gtest/gtest.h>

#include "judge/judge.h"
#include "support/judge_samples.h"

namespace tunesmith::judge {
namespace {

constexpr const char* k_article = R"({
  "case": "deepseek_v41_main_attention", "shape": "batch8, heads128, seq8192, dim128", "dtype": "bf16",
  "latency_ms": 1.82, "tflops": 412.5, "max_abs_error": 0.00042, "compile_fail": 0,
  "config": {"tile_m": 128, "tile_n": 128, "pipeline_stages": 4, "swizzle": "128B"}})";

VerifyAnswer run(const std::string& text, const VerifyOptions& options = {},
                 const Gate& gate = Gate::standard(1e-3)) {
  const auto node = Node::parse(text, "result.json");
  EXPECT_TRUE(node) << node.error().line();
  return verify(*node, gate, options);
}

/// The article's example with one field replaced, or removed when `value` is empty.
std::string with(std::string_view key, std::string_view value) {
  json::object object = parse_json(k_article, "")->get_object();
  object.erase(key);
  std::string text = json::serialize(object);
  if (!value.empty()) text.insert(1, fmt::format("\"{}\":{},", key, value));
  return text;
}

bool has(const VerifyAnswer& answer, Reason reason) {
  return std::any_of(answer.failures.begin(), answer.failures.end(),
                     [&](const GateFailure& f) { return f.reason == reason; });
}

Case attention() {
  Case c = test::small_case();
  c.name = "deepseek_v41_main_attention";
  c.dimension_names = {"batch", "heads", "seq", "dim"};
  c.shapes = {{"main", {8, 128, 8192, 128}, 1}};
  c.held_out_shapes.clear();
  std::vector<space::Name> names;
  for (const std::string& name : c.dimension_names) names.push_back({name, space::ValueKind::integer});
  c.work.flops = *space::Expression::parse("4*batch*heads*seq*seq*dim", names);
  return c;
}

TEST(VerifyTest, PassesTheArticlesExample) {
  const VerifyAnswer answer = run(k_article);
  EXPECT_TRUE(answer.ok) << answer.message;
  EXPECT_EQ(print_json_compact(answer.to_json()),
            R"({"ok":true,"message":"pass","reasons":[],"failures":[]})");
}

TEST(VerifyTest, FailsForEveryMissingField) {
  for (const char* key : {"max_abs_error", "latency_ms", "tflops"}) {
    const VerifyAnswer answer = run(with(key, ""));
    EXPECT_FALSE(answer.ok) << key;
    EXPECT_TRUE(has(answer, Reason::missing_evidence)) << key;
    EXPECT_FALSE(run(with(key, "null")).ok) << key;
  }
}

TEST(VerifyTest, ReadsAnAbsentCompileFailAsZeroLikeTheArticle) {
  EXPECT_TRUE(run(with("compile_fail", "")).ok);
}

TEST(VerifyTest, FailsForBooleansAndStringsWhereNumbersBelong) {
  for (const char* key : {"max_abs_error", "latency_ms", "tflops", "compile_fail", "min_tflops"}) {
    // Python would take true for 1 and compare it.
    EXPECT_FALSE(run(with(key, "true")).ok) << key;
    EXPECT_FALSE(run(with(key, "\"0\"")).ok) << key;
    EXPECT_FALSE(run(with(key, "[0]")).ok) << key;
  }
}

TEST(VerifyTest, FailsForTimesThatCannotBe) {
  for (const char* value : {"0", "-1.5", "0.0"}) {
    const VerifyAnswer answer = run(with("latency_ms", value));
    EXPECT_FALSE(answer.ok) << value;
    EXPECT_TRUE(has(answer, Reason::impossible_time)) << value << answer.message;
  }
}

TEST(VerifyTest, FailsForFiguresBelowZero) {
  EXPECT_FALSE(run(with("max_abs_error", "-0.5")).ok);
  EXPECT_FALSE(run(with("tflops", "-3")).ok);
}

TEST(VerifyTest, RefusesAFailedBuildFirst) {
  const VerifyAnswer answer = run(R"({"compile_fail": 1})");
  EXPECT_FALSE(answer.ok);
  EXPECT_EQ(answer.failures.front().reason, Reason::build_failed);
  EXPECT_TRUE(has(answer, Reason::missing_evidence));
}

TEST(VerifyTest, ComparesTheErrorWithTheToleranceInclusively) {
  EXPECT_TRUE(run(with("max_abs_error", "0.001")).ok);
  EXPECT_TRUE(has(run(with("max_abs_error", "0.0010001")), Reason::wrong_result));
  VerifyOptions strict;
  strict.tol = 1e-4;
  EXPECT_FALSE(run(k_article, strict).ok);
  VerifyOptions loose;
  loose.tol = 1;
  EXPECT_TRUE(run(with("max_abs_error", "0.5"), loose).ok);
}

TEST(VerifyTest, LetsTheResultRaiseTheFloorAndNeverLowerIt) {
  EXPECT_TRUE(run(with("min_tflops", "412.5")).ok);
  EXPECT_TRUE(has(run(with("min_tflops", "413")), Reason::below_floor));
  Gate gate = Gate::standard(1e-3);
  gate.floors = {{"", "", "", 500}};
  EXPECT_FALSE(run(with("min_tflops", "1"), {}, gate).ok);
  EXPECT_FALSE(run(with("min_tflops", "-1"), {}, gate).ok);
}

TEST(VerifyTest, AppliesAFloorToItsDeviceShapeAndBaselineOnly) {
  Gate gate = Gate::standard(1e-3);
  gate.floors = {{"H100", "", "", 500}};
  VerifyOptions options;
  options.device = "NVIDIA A100";
  EXPECT_TRUE(run(k_article, options, gate).ok);
  options.device = "NVIDIA H100 SXM";
  EXPECT_FALSE(run(k_article, options, gate).ok);
  gate.floors = {{"", "another shape", "", 500}};
  EXPECT_TRUE(run(k_article, {}, gate).ok);
  gate.floors = {{"", "batch8, heads128, seq8192, dim128", "", 500}};
  EXPECT_FALSE(run(k_article, {}, gate).ok);
  // Who leaves out its device is not thereby excused.
  gate.floors = {{"H100", "", "", 500}};
  EXPECT_FALSE(run(k_article, {}, gate).ok);
}

TEST(VerifyTest, FailsForARequiredFigureWithoutEvidenceAndNotForAnOptionalOne) {
  const auto gate = [](const char* state) {
    return *Gate::from_json(*Node::parse(
        fmt::format(R"({{"performance": {{"peak_memory_bytes": {{"need": "{}", "at_most": 10}}}}}})", state),
        "g"));
  };
  EXPECT_TRUE(has(run(k_article, {}, gate("required")), Reason::missing_evidence));
  EXPECT_TRUE(run(k_article, {}, gate("optional")).ok);
  EXPECT_TRUE(run(k_article, {}, gate("not_measurable_here")).ok);
  EXPECT_FALSE(run(with("peak_memory_bytes", "11"), {}, gate("optional")).ok);
  EXPECT_TRUE(run(with("peak_memory_bytes", "10"), {}, gate("required")).ok);
}

TEST(VerifyTest, AsksForReproducibilityAsTrueOrFalse) {
  const Gate gate = *Gate::from_json(*Node::parse(R"({"engineering": {"reproducible": "required"}})", "g"));
  EXPECT_FALSE(run(k_article, {}, gate).ok);
  EXPECT_TRUE(run(with("reproducible", "true"), {}, gate).ok);
  EXPECT_TRUE(has(run(with("reproducible", "false"), {}, gate), Reason::nondeterministic));
  EXPECT_FALSE(run(with("reproducible", "1"), {}, gate).ok);
}

TEST(VerifyTest, RefusesTheArticlesExampleAgainstItsCaseAsImpossible) {
  const Case c = attention();
  VerifyOptions options;
  options.c = &c;
  const VerifyAnswer answer = run(k_article, options);
  EXPECT_FALSE(answer.ok);
  EXPECT_EQ(answer.failures.front().reason, Reason::impossible_time) << answer.message;
  EXPECT_NE(answer.message.find("35.18 TFLOP"), std::string::npos) << answer.message;
}

TEST(VerifyTest, AcceptsTflopsThatFollowFromTheWorkFormulaWithinOnePercent) {
  const Case c = attention();
  VerifyOptions options;
  options.c = &c;
  json::object object = parse_json(k_article, "")->get_object();
  object["latency_ms"] = 100.0;  // 351.84 tflops
  object["tflops"] = 350.0;
  EXPECT_TRUE(run(json::serialize(object), options).ok);
  object["tflops"] = 340.0;
  EXPECT_FALSE(run(json::serialize(object), options).ok);
}

TEST(VerifyTest, RefusesWhatIsFasterThanTheSpeedOfLight) {
  const Case c = attention();
  VerifyOptions options;
  options.c = &c;
  options.floor_ms = 101;
  json::object object = parse_json(k_article, "")->get_object();
  object["latency_ms"] = 100.0;
  object["tflops"] = 351.84;
  EXPECT_TRUE(has(run(json::serialize(object), options), Reason::impossible_time));
  options.floor_ms = 0;
  options.floor_of = [](const Shape& s) { return s.name == "main" ? 101.0 : 0.0; };
  EXPECT_TRUE(has(run(json::serialize(object), options), Reason::impossible_time));
}

TEST(VerifyTest, ReadsAShapeInEveryCommonForm) {
  const Case c = test::small_case(2);
  VerifyOptions options;
  options.c = &c;
  const double tflops = tflops_of(2.0 * 8 * 2048 * 2048, 1.0);
  for (const char* shape : {R"("m=8 n=2048 k=2048")", R"("m8, n2048, k2048")", R"("M: 8; N: 2048; K = 2048")",
                            R"("8x2048x2048")", R"([8, 2048, 2048])", R"({"k": 2048, "n": 2048, "m": 8})"}) {
    const std::string text =
        fmt::format(R"({{"shape": {}, "latency_ms": 1, "tflops": {}, "max_abs_error": 0}})", shape, tflops);
    const VerifyAnswer answer = run(text, options);
    EXPECT_TRUE(answer.ok) << shape << ": " << answer.message;
  }
  for (const char* shape : {R"("m=9 n=2048 k=2048")", R"("m=8 n=2048")", R"("m=8 n=2048 k=2048 q=1")",
                            R"("")", "7", R"([8, 2048])", R"({"m": "8"})"}) {
    const std::string text =
        fmt::format(R"({{"shape": {}, "latency_ms": 1, "tflops": {}, "max_abs_error": 0}})", shape, tflops);
    EXPECT_FALSE(run(text, options).ok) << shape;
  }
}

TEST(VerifyTest, ComparesAResultOverAllShapesWithTheirMeanWork) {
  const Case c = test::small_case(2);
  VerifyOptions options;
  options.c = &c;
  const double work = 2.0 * std::sqrt(8.0 * 16.0) * 2048 * 2048;
  const auto text = [&](double tflops) {
    return fmt::format(R"({{"shape": "all", "latency_ms": 1, "tflops": {}, "max_abs_error": 0}})", tflops);
  };
  EXPECT_TRUE(run(text(tflops_of(work, 1)), options).ok);
  EXPECT_FALSE(run(text(2 * tflops_of(work, 1)), options).ok);
}

TEST(VerifyTest, LooksIntoEveryShapeOfAResult) {
  json::object object = parse_json(k_article, "")->get_object();
  object["shapes"] =
      *parse_json(R"([{"shape": "a", "latency_ms": 1, "tflops": 1, "max_abs_error": 0.5}])", "");
  EXPECT_TRUE(has(run(json::serialize(object)), Reason::wrong_result));
  object["shapes"] = *parse_json(R"([7])", "");
  EXPECT_FALSE(run(json::serialize(object)).ok);
}

TEST(VerifyTest, NeverPassesWhatTheBenchRefusedOrDidNotCheck) {
  EXPECT_TRUE(has(run(with("reason", "\"STALE_OUTPUT\"")), Reason::stale_output));
  EXPECT_TRUE(run(with("reason", "\"NOT_FASTER\"")).ok);
  EXPECT_FALSE(run(with("checks", R"({"planned": 3, "executed": 2})")).ok);
  EXPECT_FALSE(run(with("checks", R"({"planned": 0, "executed": 0})")).ok);
  EXPECT_TRUE(run(with("checks", R"({"planned": 3, "executed": 3})")).ok);
}

TEST(VerifyTest, RefusesAnythingButAnObject) {
  EXPECT_FALSE(run("[]").ok);
  EXPECT_FALSE(run("3").ok);
}

TEST(VerifyTest, RefusesAResultOfAnotherCase) {
  const Case c = test::small_case();
  VerifyOptions options;
  options.c = &c;
  const double tflops = tflops_of(2.0 * 8 * 2048 * 2048, 1.0);
  const std::string text = fmt::format(
      R"({{"case": "other", "shape": "8x2048x2048", "latency_ms": 1, "tflops": {}, "max_abs_error": 0}})",
      tflops);
  EXPECT_FALSE(run(text, options).ok);
}

}  // namespace
}  // namespace tunesmith::judge
