#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <map>

#include "base/clock.h"
#include "base/file.h"
#include "base/random.h"
#include "base/text.h"
#include "store/sqlite.h"
#include "tune/journal.h"

namespace tunesmith {
namespace {

constexpr const char* k_evaluations = "60";

/// The driver with its output in <folder>.out and .err.
pid_t start(const std::string& run, const std::string& side, const std::string& evaluations = k_evaluations) {
  std::string program = KILL_DRIVER;
  std::string first = run;
  std::string second = side;
  std::string third = evaluations;
  char* arguments[] = {program.data(), first.data(), second.data(), third.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, (side + ".out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, (side + ".err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t pid = -1;
  const int failed = posix_spawn(&pid, KILL_DRIVER, &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  return failed == 0 ? pid : -1;
}

int finish(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int run_to_the_end(const std::string& run, const std::string& side) { return finish(start(run, side)); }

std::string said(const std::string& side) { return read_file(side + ".err").value_or(""); }

/// What must be the same in a disturbed and an undisturbed run: every decision, in order, and the winner.
std::string decisions(const std::string& run) {
  const auto journal = tune::Journal::read_only(run);
  if (!journal) return journal.error().line();
  std::string out;
  for (const tune::Trial& t : journal->trials()) {
    out += fmt::format("{} {} {} {} ended={} keep={} valid={} {} {} {} {}\n", t.id, t.batch,
                       print_json_compact(t.config), t.identity, t.ended, t.decision.keep, t.decision.valid,
                       judge::name_of(t.decision.verdict), code_of(t.decision.reason), t.decision.detail,
                       number_text(t.evidence.log_ratio_to_baseline));
  }
  std::string winner;
  for (const auto& [kind, detail] : journal->events()) {
    if (kind == "stop")
      winner = print_json_compact(detail.at("winner")) + " " + print_json_compact(detail.at("end"));
  }
  return out + "winner " + winner + "\n";
}

class KillTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = TempDir::make();
    ASSERT_TRUE(made) << made.error().line();
    m_folder.emplace(std::move(*made));
  }
  [[nodiscard]] std::string path(const std::string& name) const { return m_folder->path() + "/" + name; }
  std::optional<TempDir> m_folder;
};

TEST_F(KillTest, DecidesAsAnUndisturbedRunHoweverOftenItIsKilled) {
  const bool full = std::getenv("TUNESMITH_FULL") != nullptr;
  const int wanted = full ? 400 : 60;
  ASSERT_EQ(run_to_the_end(path("calm"), path("calm.side")), 0) << said(path("calm.side"));
  const std::string calm = decisions(path("calm"));
  ASSERT_NE(calm.find("keep=true"), std::string::npos) << calm;
  ASSERT_NE(calm.find("DUPLICATE"), std::string::npos) << calm;
  ASSERT_NE(calm.find("BUILD_FAILED"), std::string::npos) << calm;

  // How long an undisturbed run takes here decides where the kills fall.
  const std::int64_t began = monotonic_ns();
  ASSERT_EQ(run_to_the_end(path("timed"), path("timed.side")), 0);
  const std::int64_t whole_us = (monotonic_ns() - began) / 1000;

  Rng rng(20261101);
  int kills = 0;
  for (int round = 0; kills < wanted; ++round) {
    ASSERT_LT(round, wanted) << "the runs end before they can be killed";
    const std::string run = path("run" + std::to_string(round));
    const std::string side = run + ".side";
    int here = 0;
    while (true) {
      const pid_t pid = start(run, side);
      ASSERT_GT(pid, 0);
      usleep(static_cast<useconds_t>(rng.below(static_cast<std::uint64_t>(whole_us) / 2 + 1000)));
      kill(pid, SIGKILL);
      const int status = finish(pid);
      if (status == 0) break;
      ASSERT_EQ(status, -SIGKILL) << said(side);
      ++here;
      if (here >= 60) {
        ASSERT_EQ(run_to_the_end(run, side), 0) << said(side);
        break;
      }
    }
    kills += here;
    EXPECT_EQ(decisions(run), calm) << "round " << round << " after " << here << " kills";
    // Whatever ended was never measured again: more than once only where a kill fell between measuring and
    // writing.
    std::map<std::string, int> counts;
    int repeats = 0;
    for (const std::string_view line : split_lines(read_file(side).value_or("")))
      repeats += counts[std::string(line)]++ > 0 ? 1 : 0;
    EXPECT_LE(repeats, here);
    const auto journal = tune::Journal::read_only(run);
    ASSERT_TRUE(journal);
    for (const tune::Trial& trial : journal->trials()) {
      if (trial.decision.reason == Reason::duplicate) continue;  // its identity is the first one's
      EXPECT_LE(counts[trial.identity], static_cast<int>(std::max<std::size_t>(1, trial.starts.size())))
          << trial.id;
    }
    if (HasFailure()) return;
  }
  std::printf("%d kills survived, an undisturbed run takes %lld ms\n", kills,
              static_cast<long long>(whole_us / 1000));
}

TEST_F(KillTest, ResumesAFinishedRunWithoutMeasuringAnything) {
  ASSERT_EQ(run_to_the_end(path("run"), path("side")), 0);
  const std::string before = read_file(path("side")).value_or("");
  const std::string calm = decisions(path("run"));
  ASSERT_EQ(run_to_the_end(path("run"), path("side")), 0);
  EXPECT_EQ(read_file(path("side")).value_or(""), before);
  EXPECT_EQ(decisions(path("run")), calm);
}

TEST_F(KillTest, NamesTheProcessThatHoldsTheRun) {
  ASSERT_EQ(run_to_the_end(path("run"), path("side")), 0);
  const auto holder = tune::Journal::resume(path("run"));
  ASSERT_TRUE(holder) << holder.error().line();
  EXPECT_EQ(run_to_the_end(path("run"), path("side2")), 10 + static_cast<int>(ErrorCode::conflict));
  EXPECT_NE(said(path("side2")).find(fmt::format("(pid {})", getpid())), std::string::npos)
      << said(path("side2"));
  EXPECT_TRUE(tune::Journal::read_only(path("run")));
}

TEST_F(KillTest, TellsATornJournalInOneLine) {
  ASSERT_EQ(run_to_the_end(path("run"), path("side")), 0);
  const std::string file = path("run") + "/journal.sqlite";
  for (const char* side : {"-wal", "-shm"}) unlink((file + side).c_str());
  struct stat info {};
  ASSERT_EQ(stat(file.c_str(), &info), 0);
  ASSERT_EQ(truncate(file.c_str(), info.st_size / 2 + 100), 0);
  EXPECT_EQ(run_to_the_end(path("run"), path("side2")), 10 + static_cast<int>(ErrorCode::unreadable));
  EXPECT_NE(said(path("side2")).find("journal.sqlite"), std::string::npos) << said(path("side2"));
  EXPECT_EQ(split_lines(trim(said(path("side2")))).size(), 1U);
  ASSERT_TRUE(write_file_atomic(
      file, "this is no database, and it is long enough to be read as one, or so one would think"));
  EXPECT_EQ(run_to_the_end(path("run"), path("side2")), 10 + static_cast<int>(ErrorCode::unreadable))
      << said(path("side2"));
}

TEST_F(KillTest, RefusesAnotherSchemaVersionInOneLineAndChangesNothing) {
  ASSERT_EQ(run_to_the_end(path("run"), path("side")), 0);
  const std::string file = path("run") + "/journal.sqlite";
  for (const auto& [version, word] : {std::pair<std::int64_t, const char*>{0, "older"}, {99, "newer"}}) {
    {
      auto database = store::Database::open(file, store::OpenMode::existing);
      ASSERT_TRUE(database && database->set_schema_version(version));
    }
    const auto resumed = tune::Journal::resume(path("run"));
    ASSERT_FALSE(resumed);
    EXPECT_EQ(resumed.error().code, ErrorCode::unreadable);
    EXPECT_NE(resumed.error().line().find(word), std::string::npos) << resumed.error().line();
    EXPECT_EQ(run_to_the_end(path("run"), path("side2")), 10 + static_cast<int>(ErrorCode::unreadable));
  }
  auto database = store::Database::open(file, store::OpenMode::existing);
  ASSERT_TRUE(database && database->set_schema_version(1));
  EXPECT_TRUE(tune::Journal::read_only(path("run")));
}

/// A full disk, real where mount is allowed, else played by a limit on the size of files.
TEST_F(KillTest, KeepsEverythingWhenTheDiskIsFullAndGoesOnWhenThereIsRoom) {
  ASSERT_EQ(run_to_the_end(path("calm"), path("calm.side")), 0);
  const std::string disk = path("disk");
  ASSERT_TRUE(make_folders(disk));
  const bool mounted = mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=256k") == 0;
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  if (!mounted) {
    // Children inherit it; ignored, the signal becomes EFBIG.
    signal(SIGXFSZ, SIG_IGN);
    const rlimit small{160 << 10, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  }
  const int status = run_to_the_end(disk + "/run", path("side"));
  if (!mounted) {
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_DFL);
  }
  EXPECT_EQ(status, 10 + static_cast<int>(ErrorCode::io)) << said(path("side"));
  EXPECT_EQ(split_lines(trim(said(path("side")))).size(), 1U) << said(path("side"));
  EXPECT_NE(said(path("side")).find("disk"), std::string::npos) << said(path("side"));
  if (mounted) {
    ASSERT_EQ(mount("tmpfs", disk.c_str(), "tmpfs", MS_REMOUNT, "size=64m"), 0);
  }
  EXPECT_EQ(run_to_the_end(disk + "/run", path("side")), 0) << said(path("side"));
  EXPECT_EQ(decisions(disk + "/run"), decisions(path("calm")));
  if (mounted) umount(disk.c_str());
}

}  // namespace
}  // namespace tunesmith
