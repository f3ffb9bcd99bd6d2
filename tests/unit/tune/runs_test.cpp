#include "tune/runs.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>

#include "base/file.h"
#include "support/judge_samples.h"
#include "support/schema_check.h"

namespace tunesmith::tune {
namespace {

class RunsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TempDir::make();
    ASSERT_TRUE(made);
    m_temp.emplace(std::move(*made));
    root = m_temp->path() + "/runs";
  }
  Trial trial(std::int64_t id, double ratio = 0.8) const {
    Trial t;
    t.id = id;
    t.config = {{"A", 1}, {"B", 0}};
    t.ended = true;
    t.evidence = test::good_evidence(c, ratio);
    t.decision = judge::decide(t.evidence, c, judge::Gate::standard(1e-3), {}, {1.0, 1.0, 0});
    return t;
  }
  /// A run with a given start, closed again.
  std::string make_run(const std::string& name, const std::string& utc) const {
    RunHeader header;
    header.started_utc = utc;
    header.run = name;
    EXPECT_TRUE(make_folders(root));
    EXPECT_TRUE(Journal::create(root + "/" + name, header));
    return root + "/" + name;
  }
  std::optional<TempDir> m_temp;
  std::string root;
  Case c = test::small_case(2);
};

TEST_F(RunsTest, MakesPrivateFoldersWithNamesOfTheirOwn) {
  const auto first = new_run_folder(root, "../evil case");
  const auto second = new_run_folder(root, "../evil case");
  ASSERT_TRUE(first && second);
  EXPECT_NE(*first, *second);
  EXPECT_EQ(parent_folder(*first), root);
  struct stat info {};
  ASSERT_EQ(stat(first->c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0700U);
}

TEST_F(RunsTest, FindsARunByNamePrefixPathAndLatest) {
  const std::string one = make_run("alpha-1", "2026-01-01T00:00:00Z");
  make_run("beta-1", "2026-01-02T00:00:00Z");
  make_run("beta-2", "2026-01-03T00:00:00Z");
  ASSERT_TRUE(point_symlink(root + "/latest", "beta-2"));
  EXPECT_EQ(find_run(root, "alpha-1").value_or(""), one);
  EXPECT_EQ(find_run(root, "al").value_or(""), one);
  EXPECT_EQ(find_run(root, one).value_or(""), one);
  EXPECT_EQ(find_run(root, "latest").value_or(""), root + "/beta-2");
  EXPECT_EQ(find_run(root, "beta").error().code, ErrorCode::usage);
  EXPECT_NE(find_run(root, "alpha-2").error().line().find("alpha-1"), std::string::npos);
  EXPECT_EQ(list_runs(root).size(), 3U);
  EXPECT_EQ(list_runs(root).front(), one);
}

TEST_F(RunsTest, WritesAResultThatItsOwnGateAccepts) {
  RunHeader header;
  header.run = "r";
  header.seal_key = "key";
  const json::object result = result_json(c, header, trial(1));
  EXPECT_EQ(result.at("shape"), "all");
  judge::VerifyOptions options;
  options.c = &c;
  const auto answer =
      judge::verify(*Node::parse(print_json(result), "r"), judge::Gate::standard(1e-3), options);
  EXPECT_TRUE(answer.ok) << answer.message;
  Case one = test::small_case(1);
  Trial t = trial(1);
  t.evidence = test::good_evidence(one);
  EXPECT_EQ(std::string(result_json(one, header, t).at("shape").as_string()), one.shapes[0].name);
}

TEST_F(RunsTest, LeavesOutTheFiguresOfAFailedBuild) {
  Trial t = trial(1);
  t.evidence = Evidence{};
  t.evidence.build.outcome = BuildEvidence::Outcome::failed;
  t.decision = judge::decide(t.evidence, c, judge::Gate::standard(1e-3), {}, {1.0, 1.0, 0});
  const json::object result = result_json(c, {}, t);
  EXPECT_FALSE(result.contains("latency_ms"));
  EXPECT_EQ(result.at("compile_fail"), 1);
  const auto answer = judge::verify(*Node::parse(print_json(result), "r"), judge::Gate::standard(1e-3), {});
  EXPECT_EQ(answer.failures.at(0).reason, Reason::build_failed);
}

TEST_F(RunsTest, EveryResultIsAnInstanceOfThePublishedSchema) {
  const auto text = Node::read(std::string(TUNESMITH_SOURCE_DIR) + "/schemas/result.schema.json");
  ASSERT_TRUE(text);
  const tunesmith::testing::SchemaCheck schema(text->value());
  const auto faults = [&](const Trial& t) {
    RunHeader header;
    header.run = "r";
    header.seal_key = "key";
    std::string out;
    // As it is written and read again, not as it stands in memory.
    for (const std::string& fault :
         schema.faults(Node::parse(print_json(result_json(c, header, t)), "r")->value()))
      out += fault + "\n";
    return out;
  };
  EXPECT_EQ(faults(trial(1)), "");
  EXPECT_EQ(faults(trial(2, 1.3)), "");
  Trial t = trial(3);
  t.evidence = Evidence{};
  t.evidence.build.outcome = BuildEvidence::Outcome::failed;
  t.decision = judge::decide(t.evidence, c, judge::Gate::standard(1e-3), {}, {1.0, 1.0, 0});
  EXPECT_EQ(faults(t), "");
  t = trial(4);
  t.evidence.rejection = Reason::out_of_bounds;
  t.evidence.shapes.clear();
  t.decision = judge::decide(t.evidence, c, judge::Gate::standard(1e-3), {}, {1.0, 1.0, 0});
  EXPECT_EQ(faults(t), "");
}

TEST_F(RunsTest, SealsResultsAndSeesEveryChange) {
  const std::string run = make_run("r-1", "2026-01-01T00:00:00Z");
  RunHeader header = Journal::read_only(run)->header();
  const std::string text = print_json(result_json(c, header, trial(1)));
  const auto read = [&](const std::string& t) { return parse_json(t, "r")->get_object(); };
  EXPECT_EQ(verify_seal(read(text), root).state, Seal::sealed);
  json::object changed = read(text);
  changed["latency_ms"] = 0.001;
  EXPECT_EQ(verify_seal(changed, root).state, Seal::broken);
  changed = read(text);
  changed.erase("seal");
  EXPECT_EQ(verify_seal(changed, root).state, Seal::unsealed);
  changed = read(text);
  changed["seal"].get_object()["run"] = "../r-1";
  EXPECT_EQ(verify_seal(changed, root).state, Seal::broken);
  EXPECT_EQ(verify_seal(read(text), root + "/elsewhere").state, Seal::unsealed);
  header.seal_key = "guessed";
  EXPECT_EQ(verify_seal(result_json(c, header, trial(1)), root).state, Seal::broken);
}

TEST_F(RunsTest, PublishesAndMovesTheLatestLinks) {
  for (const char* name : {"r-1", "r-2"}) {
    RunHeader header;
    header.run = name;
    ASSERT_TRUE(make_folders(root));
    auto journal = Journal::create(root + "/" + name, header);
    ASSERT_TRUE(journal);
    ASSERT_TRUE(publish(root, c, *journal, trial(3)));
    const auto result = Node::read(root + "/small_latest.json");
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->value().at("run"), name);
    EXPECT_TRUE(exists(root + "/latest/results/3.json"));
  }
}

TEST_F(RunsTest, NeverOverwritesAnotherRunsOrASealedResult) {
  const std::string path = m_temp->path() + "/out.json";
  RunHeader header;
  header.run = "r-1";
  const json::object result = result_json(c, header, trial(1));
  ASSERT_TRUE(write_result(path, result));
  EXPECT_TRUE(write_result(path, result));
  EXPECT_FALSE(write_result(path, result_json(c, header, trial(2))));
  header.run = "r-2";
  EXPECT_EQ(write_result(path, result_json(c, header, trial(1))).error().code, ErrorCode::conflict);
  ASSERT_TRUE(write_file_atomic(path, "my notes"));
  EXPECT_FALSE(write_result(path, result));
}

TEST_F(RunsTest, RanksBestFirstAndNeverWhatFailed) {
  std::vector<Trial> trials = {trial(1, 0.9), trial(2, 0.7), trial(3, 0.8), trial(4, 0.1),
                               trial(5, 0.2), trial(6, 0.3), trial(7, 0.4)};
  trials[3].decision.valid = false;
  trials[4].evidence.log_ratio_to_baseline = std::nan("");
  trials[5].ended = false;
  trials[6].decision.reason = Reason::duplicate;
  const auto top = top_trials(trials, false, 2);
  ASSERT_EQ(top.size(), 2U);
  EXPECT_EQ(top[0].id, 2);
  EXPECT_EQ(top[1].id, 3);
}

TEST_F(RunsTest, PrunesTheOldestAndSparesWhatIsInUseOrLatest) {
  const std::string a = make_run("a", "2026-01-01T00:00:00Z");
  const std::string b = make_run("b", "2026-01-02T00:00:00Z");
  const std::string in_use = make_run("c", "2026-01-03T00:00:00Z");
  const std::string d = make_run("d", "2026-01-04T00:00:00Z");
  ASSERT_TRUE(point_symlink(root + "/latest", "a"));
  const auto holder = Journal::resume(in_use);
  ASSERT_TRUE(holder);
  EXPECT_FALSE(prune(root, std::nullopt, std::nullopt));
  EXPECT_EQ(prune(root, 1, 30)->removed.size(), 0U);
  EXPECT_EQ(prune(root, 1, std::nullopt, true)->removed.size(), 1U);
  EXPECT_TRUE(exists(b));
  const auto pruned = prune(root, 1, std::nullopt);
  ASSERT_TRUE(pruned);
  EXPECT_EQ(pruned->removed, std::vector<std::string>{b});
  EXPECT_EQ(pruned->kept, (std::vector<std::string>{a, in_use}));
  EXPECT_FALSE(exists(b));
  EXPECT_TRUE(exists(a) && exists(in_use) && exists(d));
}

}  // namespace
}  // namespace tunesmith::tune
