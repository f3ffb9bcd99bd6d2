// The published schemas against the shipped cases, the readers and the article's example.
#include "case/evidence.h"
#include "case/lookup.h"
#include "fixture.h"
#include "support/schema_check.h"

namespace tunesmith::testing {
namespace {

json::value read_json(const std::string& path) {
  const auto node = Node::read(path);
  EXPECT_TRUE(node) << node.error().line();
  return node ? node->value() : json::value();
}

SchemaCheck schema(const std::string& name) {
  return SchemaCheck(read_json(std::string(TUNESMITH_SOURCE_DIR) + "/schemas/" + name + ".schema.json"));
}

std::string faults(const SchemaCheck& check, const json::value& value) {
  std::string out;
  for (const std::string& fault : check.faults(value)) out += fault + "\n";
  return out;
}

constexpr const char* k_article = R"({
  "case": "deepseek_v41_main_attention", "shape": "batch8, heads128, seq8192, dim128", "dtype": "bf16",
  "latency_ms": 1.82, "tflops": 412.5, "max_abs_error": 0.00042, "compile_fail": 0,
  "config": {"tile_m": 128, "tile_n": 128, "pipeline_stages": 4, "swizzle": "128B"}})";

class SchemaTest : public CaseFixture {};

TEST_F(SchemaTest, EveryShippedCaseIsValidAndLoads) {
  const SchemaCheck check = schema("case");
  const std::string root = TUNESMITH_SOURCE_DIR;
  int cases = 0;
  for (const std::string& folder : {root + "/cases", root + "/examples/own-kernel"}) {
    for (const std::string& name : list_folder(folder)) {
      if (!name.ends_with(".json")) continue;
      EXPECT_EQ(faults(check, read_json(folder + "/" + name)), "") << name;
      const auto c = load_case(folder + "/" + name);
      EXPECT_TRUE(c) << c.error().line();
      if (c && folder.ends_with("/cases")) {
        EXPECT_EQ(c->name + ".json", name);
      }
      ++cases;
    }
  }
  EXPECT_GT(cases, 1);
}

TEST_F(SchemaTest, TheCaseSchemaRefusesWhatTheReaderRefuses) {
  const SchemaCheck check = schema("case");
  const json::value good = json::parse(k_case);
  EXPECT_EQ(faults(check, good), "");
  const std::pair<const char*, const char*> broken[] = {{"/name", "\"a b\""},
                                                        {"/sourc", "{}"},
                                                        {"/backend", "\"cuda9\""},
                                                        {"/source/entry", "\"2x\""},
                                                        {"/source/files", "[]"},
                                                        {"/shapes", "[]"},
                                                        {"/shapes/0/m", "0"},
                                                        {"/shapes/0/m", "1.5"},
                                                        {"/shapes/0/weight", "0"},
                                                        {"/held_out_shapes/0/weight", "1"},
                                                        {"/arguments/0/buffer", "\"f23\""},
                                                        {"/arguments/0/role", "\"input\""},
                                                        {"/arguments/0/fill/kind", "\"gauss\""},
                                                        {"/arguments/0/extra", "1"},
                                                        {"/reference", "{}"},
                                                        {"/tolerance/absolute", "-1"},
                                                        {"/parameters/2X", "[1]"},
                                                        {"/parameters/MR", "[]"},
                                                        {"/parameters/MR", "[1, \"a\"]"},
                                                        {"/parameters/LAYOUT/0", "\"a b\""},
                                                        {"/baseline", "{}"},
                                                        {"/limits/threads", "0"},
                                                        {"/clock", "\"hot\""}};
  for (const auto& [pointer, text] : broken) {
    EXPECT_FALSE(refusal_of(pointer, text).empty()) << pointer;
    const auto before = load();  // the fixture is whole again
    EXPECT_TRUE(before);
    set(pointer, text);
    EXPECT_NE(faults(check, read_json(write_case())), "") << pointer << " " << text;
    reset();
  }
}

TEST_F(SchemaTest, TheArticlesResultIsValid) {
  EXPECT_EQ(faults(schema("result"), json::parse(k_article)), "");
}

TEST_F(SchemaTest, BrokenResultsAreNot) {
  const SchemaCheck check = schema("result");
  const auto with = [](const char* key, json::value value) {
    json::value result = json::parse(k_article);
    result.as_object()[key] = std::move(value);
    return result;
  };
  EXPECT_NE(faults(check, with("latency_ms", "1.82")), "");
  EXPECT_NE(faults(check, with("latency_ms", -1)), "");
  EXPECT_NE(faults(check, with("compile_fail", 0.5)), "");
  EXPECT_NE(faults(check, with("config", json::array{})), "");
  EXPECT_NE(faults(check, with("reason", "SO_SO")), "");
  EXPECT_NE(faults(check, with("verdict", "best")), "");
  EXPECT_EQ(faults(check, with("latency_ms", nullptr)), "");
  json::value bare = json::parse(k_article);
  bare.as_object().erase("case");
  EXPECT_EQ(faults(check, bare), ": the key \"case\" is missing\n");
}

TEST_F(SchemaTest, EvidenceFitsTheResultSchema) {
  Evidence evidence;
  evidence.build.outcome = BuildEvidence::Outcome::ok;
  evidence.rejection = Reason::wrong_result;
  evidence.log_ratio = std::nan("");
  evidence.shapes.emplace_back().shape = "m=1";
  evidence.shapes[0].timing.samples.emplace_back();
  json::value result = json::parse(k_article);
  result.as_object()["evidence"] = evidence_to_json(evidence);
  EXPECT_EQ(faults(schema("result"), result), "");
  result.at("evidence")
      .at("shapes")
      .as_array()[0]
      .at("timing")
      .at("samples")
      .as_array()[0]
      .as_array()
      .pop_back();
  EXPECT_EQ(faults(schema("result"), result), "/evidence/shapes/0/timing/samples/0: has too few items\n");
}

TEST_F(SchemaTest, GateAndObjectiveTakeTheirSettings) {
  const SchemaCheck gate = schema("gate");
  EXPECT_EQ(faults(gate, json::parse(R"({"tol": 1e-3, "numerical": {"max_rel_error": {"at_most": 0.01}},
    "performance": {"occupancy": "not_measurable_here"}, "floors": [{"device": "H200", "min_tflops": 400}],
    "rollback": {"on": "regressions", "after": 3}})")),
            "");
  EXPECT_NE(faults(gate, json::parse(R"({"numerical": {"latency_ms": "required"}})")), "");
  EXPECT_NE(faults(gate, json::parse(R"({"performance": {"tflops": "needed"}})")), "");
  EXPECT_NE(faults(gate, json::parse(R"({"rollback": {"after": 0}})")), "");
  EXPECT_NE(faults(gate, json::parse(R"({"floors": [{"device": "H200"}]})")), "");
  const SchemaCheck objective = schema("objective");
  EXPECT_EQ(faults(objective, json::parse(R"({"tflops_weight": 0.02, "tol": 1e-3})")), "");
  EXPECT_EQ(faults(objective, json::parse(R"({"formula": "latency_ms + 1e-9 * peak_memory_bytes"})")), "");
  EXPECT_NE(faults(objective, json::parse(R"({"formula": "latency_ms", "tflops_weight": 1})")), "");
  EXPECT_NE(faults(objective, json::parse(R"({"weight": 1})")), "");
}

TEST_F(SchemaTest, TheCheckerDoesNotPassOverAKeywordItDoesNotKnow) {
  const SchemaCheck check(json::parse(R"({"multipleOf": 2})"));
  EXPECT_EQ(check.faults(3).size(), 1U);
  const SchemaCheck dangling(json::parse(R"({"$ref": "#/$defs/none"})"));
  EXPECT_EQ(dangling.faults(3).size(), 1U);
}

}  // namespace
}  // namespace tunesmith::testing
