#include "base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>

using namespace tunesmith;

namespace {

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = TempDir::make();
    ASSERT_TRUE(made) << made.error().line();
    m_folder.emplace(std::move(*made));
  }
  [[nodiscard]] std::string at(const std::string& name) const { return m_folder->path() + "/" + name; }
  [[nodiscard]] std::vector<std::string> names() const { return list_folder(m_folder->path()); }

  std::optional<TempDir> m_folder;
};

/// Runs the check in a child that may not write files of more than 4 KiB, as on a full disk.
int in_child_with_small_files(const std::function<int()>& check) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    setrlimit(RLIMIT_FSIZE, &limit);
    _exit(check());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_F(FileTest, WritesAndReadsBytes) {
  const std::string bytes("a\0b\xff\n", 5);
  ASSERT_TRUE(write_file_atomic(at("f"), bytes));
  EXPECT_EQ(read_file(at("f")).value(), bytes);
  ASSERT_TRUE(write_file_atomic(at("f"), ""));
  EXPECT_EQ(read_file(at("f")).value(), "");
  EXPECT_EQ(names(), std::vector<std::string>{"f"}) << "no temporary file may stay";
}

TEST_F(FileTest, WritesWithTheAskedMode) {
  ASSERT_TRUE(write_file_atomic(at("f"), "x", 0600));
  struct stat info {};
  ASSERT_EQ(stat(at("f").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

TEST_F(FileTest, FailedWriteKeepsTheOldFileAndLeavesNoTemporary) {
  ASSERT_TRUE(write_file_atomic(at("f"), "old"));
  EXPECT_EQ(in_child_with_small_files([&] {
              const Status written = write_file_atomic(at("f"), std::string(10'000, 'x'));
              return !written && written.error().code == ErrorCode::io && !written.error().mend.empty() ? 0
                                                                                                        : 1;
            }),
            0);
  EXPECT_EQ(read_file(at("f")).value(), "old");
  EXPECT_EQ(names(), std::vector<std::string>{"f"});
}

TEST_F(FileTest, FullDiskIsOneClearLine) {
  const Status written = write_file_atomic("/dev/full", "x");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::io);
  EXPECT_EQ(written.error().line(),
            "/dev/full: cannot write: No space left on device; free some disk space and run it again");
}

TEST_F(FileTest, DevicesAndPipesAreWrittenAndNotReplaced) {
  ASSERT_TRUE(write_file_atomic("/dev/null", "x"));
  struct stat info {};
  ASSERT_EQ(stat("/dev/null", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
  ASSERT_EQ(mkfifo(at("pipe").c_str(), 0600), 0);
  const UniqueFd reader(open(at("pipe").c_str(), O_RDONLY | O_NONBLOCK));
  ASSERT_TRUE(write_file_atomic(at("pipe"), "hello"));
  char got[8] = {};
  EXPECT_EQ(read(reader.get(), got, sizeof got), 5);
  EXPECT_STREQ(got, "hello");
}

TEST_F(FileTest, SymlinkIsReplacedAndItsTargetKept) {
  ASSERT_TRUE(write_file_atomic(at("target"), "precious"));
  ASSERT_EQ(symlink("target", at("link").c_str()), 0);
  ASSERT_TRUE(write_file_atomic(at("link"), "new"));
  EXPECT_EQ(read_file(at("target")).value(), "precious");
  EXPECT_EQ(read_file(at("link")).value(), "new");
}

TEST_F(FileTest, MissingFolderIsNamedWithAMend) {
  const Status written = write_file_atomic(at("no/f"), "x");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().line(),
            at("no/f") +
                ": cannot create a temporary file beside it: No such file or directory; check "
                "that the folder exists");
}

TEST_F(FileTest, ReadRefusesAbsentFoldersAndTooLargeFiles) {
  EXPECT_EQ(read_file(at("absent")).error().line(),
            at("absent") + ": cannot read: No such file or directory");
  EXPECT_EQ(read_file(m_folder->path()).error().message, "is a folder, not a file");
  ASSERT_TRUE(write_file_atomic(at("f"), "12345"));
  EXPECT_EQ(read_file(at("f"), 4).error().code, ErrorCode::unreadable);
  EXPECT_EQ(read_file(at("f"), 5).value(), "12345");
  EXPECT_EQ(read_file("/dev/zero", 1000).error().code, ErrorCode::unreadable)
      << "an endless file ends at the limit";
}

TEST_F(FileTest, SymlinkSwapsAtomically) {
  ASSERT_TRUE(point_symlink(at("latest"), "run-1"));
  ASSERT_TRUE(point_symlink(at("latest"), "run-2"));
  char target[16] = {};
  ASSERT_EQ(readlink(at("latest").c_str(), target, sizeof target - 1), 5);
  EXPECT_STREQ(target, "run-2");
  EXPECT_EQ(names(), std::vector<std::string>{"latest"});
}

TEST_F(FileTest, SymlinkNeverReplacesAFolder) {
  ASSERT_TRUE(make_folders(at("latest/keep")));
  EXPECT_FALSE(point_symlink(at("latest"), "run-1"));
  EXPECT_TRUE(is_folder(at("latest/keep")));
  EXPECT_EQ(names(), std::vector<std::string>{"latest"});
}

TEST_F(FileTest, MakesNestedFoldersOnce) {
  ASSERT_TRUE(make_folders(at("a/b/c/")));
  ASSERT_TRUE(make_folders(at("a/b/c")));
  EXPECT_TRUE(is_folder(at("a/b/c")));
  ASSERT_TRUE(write_file_atomic(at("file"), ""));
  EXPECT_FALSE(make_folders(at("file"))) << "a file stands there";
  EXPECT_FALSE(make_folders(at("file/below")));
}

TEST_F(FileTest, ListsNamesSorted) {
  for (const char* name : {"b", "a", ".hidden"}) ASSERT_TRUE(write_file_atomic(at(name), ""));
  EXPECT_EQ(names(), (std::vector<std::string>{".hidden", "a", "b"}));
  EXPECT_TRUE(list_folder(at("absent")).empty());
}

TEST_F(FileTest, RemovesATreeThatWasClosedAndLeavesWhatLinksPointTo) {
  ASSERT_TRUE(make_folders(at("outside")));
  ASSERT_TRUE(write_file_atomic(at("outside/f"), "x"));
  ASSERT_TRUE(make_folders(at("tree/deep/er")));
  ASSERT_TRUE(write_file_atomic(at("tree/deep/er/f"), "x"));
  ASSERT_EQ(symlink(at("outside").c_str(), at("tree/link").c_str()), 0);
  ASSERT_EQ(chmod(at("tree/deep").c_str(), 0), 0);
  ASSERT_EQ(chmod(m_folder->path().c_str(), 0777), 0);
  // Root may do everything, so a child gives that up first.
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0) {
      for (const char* name : {"tree", "tree/deep/er", "tree/deep"}) {
        if (chown(at(name).c_str(), 65534, 65534) != 0) _exit(3);
      }
      if (setgid(65534) != 0 || setuid(65534) != 0) _exit(4);
    }
    _exit(remove_tree(at("tree")) ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_FALSE(exists(at("tree")));
  EXPECT_TRUE(exists(at("outside/f")));
  EXPECT_TRUE(remove_tree(at("absent")));
}

TEST(PathTest, NamesAndParents) {
  EXPECT_EQ(parent_folder("a/b"), "a");
  EXPECT_EQ(parent_folder("a"), ".");
  EXPECT_EQ(parent_folder("/a"), "/");
  EXPECT_EQ(parent_folder("/"), "/");
  EXPECT_EQ(parent_folder("a/b//"), "a");
  EXPECT_EQ(parent_folder("a//b"), "a");
  EXPECT_EQ(parent_folder(""), ".");
  EXPECT_EQ(base_name("a/b"), "b");
  EXPECT_EQ(base_name("b"), "b");
  EXPECT_EQ(base_name("runs/x/"), "x");
  EXPECT_EQ(absolute_path("/a/./b/../c"), "/a/c");
  EXPECT_EQ(absolute_path("x")[0], '/');
}

TEST(TempDirTest, IsPrivateAndGoesAway) {
  std::string path;
  {
    auto made = TempDir::make("odd-");
    ASSERT_TRUE(made);
    const TempDir moved = std::move(*made);
    path = moved.path();
    EXPECT_EQ(base_name(path).rfind("odd-", 0), 0U);
    struct stat info {};
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0700U);
    ASSERT_TRUE(make_folders(path + "/a/b"));
  }
  EXPECT_FALSE(exists(path));
}

TEST(TempDirTest, SaysWhereItCouldNot) {
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before != nullptr ? before : "";
  setenv("TMPDIR", "/no/such/folder", 1);
  const auto made = TempDir::make();
  if (before != nullptr) {
    setenv("TMPDIR", kept.c_str(), 1);
  } else {
    unsetenv("TMPDIR");
  }
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().line().find("/no/such/folder"), std::string::npos);
}

TEST(UniqueFdTest, ClosesOnceAndMoves) {
  int number = -1;
  {
    UniqueFd first(open("/dev/null", O_RDONLY | O_CLOEXEC));
    number = first.get();
    ASSERT_GE(number, 0);
    const UniqueFd second = std::move(first);
    EXPECT_FALSE(first);  // NOLINT: the moved-from state is the point
    EXPECT_EQ(second.get(), number);
  }
  EXPECT_EQ(fcntl(number, F_GETFD), -1);
}
