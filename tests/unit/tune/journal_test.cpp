#include "tune/journal.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <limits>

#include "base/file.h"
#include "store/sqlite.h"
#include "support/judge_samples.h"

namespace tunesmith::tune {
namespace {

class JournalTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = TempDir::make();
    ASSERT_TRUE(made);
    m_temp.emplace(std::move(*made));
    folder = m_temp->path() + "/run";
  }
  std::optional<TempDir> m_temp;
  std::string folder;
  Case c = test::small_case();
};

unsigned mode_of(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 ? info.st_mode & 0777 : 0;
}

TEST_F(JournalTest, ReadsBackEverythingItWrote) {
  RunHeader header;
  header.case_name = "small";
  header.seed = std::numeric_limits<std::uint64_t>::max();
  header.input_seed = 1ULL << 63;
  header.extra["note"] = "kept";
  judge::Decision decision;
  decision.reason = Reason::wrong_result;
  decision.verdict = judge::Verdict::rejected;
  decision.objective = std::numeric_limits<double>::infinity();
  decision.failures = {{Reason::wrong_result, "max_abs_error", "too much"}};
  Evidence evidence = test::good_evidence(c, 0.7);
  std::string key;
  {
    auto journal = Journal::create(folder, header);
    ASSERT_TRUE(journal) << journal.error().line();
    key = journal->header().seal_key;
    ASSERT_EQ(journal->propose(1, {{"A", 1}}, "", "id").value_or(0), 1);
    ASSERT_TRUE(journal->start(1, 3.5));
    ASSERT_TRUE(journal->end(1, evidence, decision, 4.5));
    ASSERT_EQ(journal->propose(1, {{"A", 2}}, "--- a", "id2").value_or(0), 2);
    ASSERT_TRUE(journal->start(2, 5));
    ASSERT_TRUE(journal->event("note", {{"a", 1}}, 6));
  }
  const auto journal = Journal::resume(folder);
  ASSERT_TRUE(journal) << journal.error().line();
  EXPECT_EQ(journal->header().seed, header.seed);
  EXPECT_EQ(journal->header().input_seed, header.input_seed);
  EXPECT_EQ(journal->header().extra, header.extra);
  EXPECT_EQ(journal->header().seal_key, key);
  EXPECT_GE(key.size(), 64U);
  const auto trials = journal->trials();
  ASSERT_EQ(trials.size(), 2U);
  EXPECT_TRUE(trials[0].ended);
  EXPECT_EQ(print_json_compact(evidence_to_json(trials[0].evidence)),
            print_json_compact(evidence_to_json(evidence)));
  EXPECT_EQ(trials[0].evidence.log_ratio_to_baseline, evidence.log_ratio_to_baseline);
  EXPECT_EQ(trials[0].decision.reason, Reason::wrong_result);
  EXPECT_EQ(trials[0].decision.objective, decision.objective);
  EXPECT_EQ(trials[0].decision.failures.at(0).message, "too much");
  EXPECT_FALSE(trials[1].ended);
  EXPECT_EQ(trials[1].starts.size(), 1U);
  EXPECT_EQ(trials[1].diff, "--- a");
  EXPECT_EQ(journal->events().at(0).first, "note");
  EXPECT_DOUBLE_EQ(journal->spent_seconds(), 6);
}

TEST_F(JournalTest, IsReadableByItsOwnerAlone) {
  const auto journal = Journal::create(folder, {});
  ASSERT_TRUE(journal);
  EXPECT_EQ(mode_of(folder), 0700U);
  EXPECT_EQ(mode_of(folder + "/journal.sqlite"), 0600U);
  EXPECT_EQ(mode_of(folder + "/journal.sqlite-wal"), 0600U);
}

TEST_F(JournalTest, HasOneWriterAndAnyNumberOfReaders) {
  auto writer = Journal::create(folder, {});
  ASSERT_TRUE(writer);
  EXPECT_TRUE(run_in_use(folder));
  const auto second = Journal::resume(folder);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::conflict);
  const auto reader = Journal::read_only(folder);
  ASSERT_TRUE(reader) << reader.error().line();
  ASSERT_TRUE(writer->propose(1, {}, "", "id"));
  EXPECT_EQ(reader->trials().size(), 1U);
  { const Journal gone = std::move(*writer); }
  EXPECT_FALSE(run_in_use(folder));
}

TEST_F(JournalTest, NeverStartsANewRunOverAnOldOne) {
  { ASSERT_TRUE(Journal::create(folder, {})); }
  const auto again = Journal::create(folder, {});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::conflict);
}

TEST_F(JournalTest, CannotBeRewrittenEvenByHand) {
  {
    auto journal = Journal::create(folder, {});
    ASSERT_TRUE(journal && journal->propose(1, {}, "", "id"));
  }
  auto database = store::Database::open(folder + "/journal.sqlite", store::OpenMode::existing);
  ASSERT_TRUE(database);
  EXPECT_FALSE(database->execute("UPDATE trial SET identity = 'other'"));
  EXPECT_FALSE(database->execute("DELETE FROM trial"));
}

TEST_F(JournalTest, RefusesToEndATrialTwiceOrOneThatIsNotThere) {
  auto journal = Journal::create(folder, {});
  ASSERT_TRUE(journal && journal->propose(1, {}, "", "id"));
  EXPECT_TRUE(journal->end(1, {}, {}));
  EXPECT_FALSE(journal->end(1, {}, {}));
  EXPECT_FALSE(journal->start(1));
  EXPECT_FALSE(journal->start(2));
}

TEST_F(JournalTest, SaysThatAFolderWithoutAJournalHoldsNone) {
  const auto journal = Journal::resume(m_temp->path());
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().code, ErrorCode::unreadable);
}

}  // namespace
}  // namespace tunesmith::tune
