#include "store/sqlite.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <limits>

#include "base/file.h"
#include "base/random.h"

using namespace tunesmith;
using namespace tunesmith::store;

namespace {

class SqliteTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = TempDir::make();
    ASSERT_TRUE(made) << made.error().line();
    m_folder.emplace(std::move(*made));
  }

  [[nodiscard]] std::string file(const std::string& name = "journal.db") const {
    return m_folder->path() + "/" + name;
  }

  static Database open(const std::string& path, OpenMode mode = OpenMode::create,
                       Durability durability = Durability::full) {
    auto database = Database::open(path, mode, durability);
    if (!database) throw std::runtime_error(database.error().line());
    return std::move(*database);
  }

  static std::int64_t number(Database& database, const std::string& sql) {
    auto statement = database.prepare(sql);
    EXPECT_TRUE(statement) << statement.error().line();
    auto row = statement->step();
    EXPECT_TRUE(row && *row) << sql;
    return statement->integer(0);
  }

  std::optional<TempDir> m_folder;
};

}  // namespace

TEST_F(SqliteTest, KeepsEveryKindOfValue) {
  Database database = open(file());
  ASSERT_TRUE(database.execute("CREATE TABLE t(a INTEGER, b REAL, c TEXT, d TEXT)"));
  auto insert = database.prepare("INSERT INTO t VALUES(?,?,?,?)");
  ASSERT_TRUE(insert);
  const std::string with_zero("x\0y ü", 6);
  ASSERT_TRUE(insert->bind(1, std::numeric_limits<std::int64_t>::min())
                  .bind(2, 0.1)
                  .bind(3, with_zero)
                  .bind_null(4)
                  .run());
  EXPECT_EQ(database.last_insert_id(), 1);
  ASSERT_TRUE(insert->bind(1, 7).bind(2, std::nan("")).bind(3, std::string_view()).bind(4, "text").run());
  auto select = database.prepare("SELECT * FROM t");
  ASSERT_TRUE(select);
  ASSERT_TRUE(select->step().value());
  EXPECT_EQ(select->integer(0), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(select->real(1), 0.1);
  EXPECT_EQ(select->text(2), with_zero);
  EXPECT_TRUE(select->is_null(3));
  EXPECT_EQ(select->text(3), "");
  ASSERT_TRUE(select->step().value());
  EXPECT_EQ(select->integer(0), 7);
  EXPECT_TRUE(select->is_null(1)) << "SQLite has no NaN";
  EXPECT_FALSE(select->is_null(2)) << "an empty text is no NULL";
  EXPECT_EQ(select->text(3), "text");
  EXPECT_FALSE(select->step().value());
}

TEST_F(SqliteTest, UsesWalForeignKeysAndTheAskedDurability) {
  Database full = open(file("a"));
  EXPECT_EQ(number(full, "PRAGMA synchronous"), 2);
  EXPECT_EQ(number(full, "PRAGMA foreign_keys"), 1);
  EXPECT_EQ(number(full, "PRAGMA busy_timeout"), 5000);
  auto mode = full.prepare("PRAGMA journal_mode");
  ASSERT_TRUE(mode && mode->step().value());
  EXPECT_EQ(mode->text(0), "wal");
  Database normal = open(file("b"), OpenMode::create, Durability::normal);
  EXPECT_EQ(number(normal, "PRAGMA synchronous"), 1);
}

TEST_F(SqliteTest, TransactionRollsBackUnlessCommitted) {
  Database database = open(file());
  ASSERT_TRUE(database.execute("CREATE TABLE t(a)"));
  {
    auto transaction = Transaction::begin(database);
    ASSERT_TRUE(transaction);
    ASSERT_TRUE(database.execute("INSERT INTO t VALUES(1)"));
  }
  EXPECT_EQ(number(database, "SELECT count(*) FROM t"), 0);
  {
    auto transaction = Transaction::begin(database);
    ASSERT_TRUE(transaction);
    ASSERT_TRUE(database.execute("INSERT INTO t VALUES(1)"));
    ASSERT_TRUE(transaction->commit());
    EXPECT_FALSE(transaction->commit()) << "a second commit is a mistake";
  }
  EXPECT_EQ(number(database, "SELECT count(*) FROM t"), 1);
}

TEST_F(SqliteTest, MovedDatabaseStillWorks) {
  Database first = open(file());
  Database second(std::move(first));
  ASSERT_TRUE(second.execute("CREATE TABLE t(a)"));
  Database third = open(file("other"));
  third = std::move(second);
  EXPECT_EQ(number(third, "SELECT count(*) FROM t"), 0);
  EXPECT_EQ(third.path(), file());
}

TEST_F(SqliteTest, WrongIndexAndBadSqlAreErrors) {
  Database database = open(file());
  ASSERT_TRUE(database.execute("CREATE TABLE t(a)"));
  auto insert = database.prepare("INSERT INTO t VALUES(?)");
  ASSERT_TRUE(insert);
  EXPECT_FALSE(insert->bind(2, 1).run());
  EXPECT_FALSE(database.prepare("SELEKT"));
  EXPECT_FALSE(database.prepare("  "));
  EXPECT_FALSE(database.execute("INSERT INTO nowhere VALUES(1)"));
}

TEST_F(SqliteTest, BrokenConstraintIsInvalidAndNamesTheRule) {
  Database database = open(file());
  ASSERT_TRUE(database.execute("CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(p REFERENCES p(id))"));
  const auto refused = database.execute("INSERT INTO c VALUES(9)");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_NE(refused.error().line().find("FOREIGN KEY"), std::string::npos);
}

TEST_F(SqliteTest, AbsentFileIsNamedAndNotCreated) {
  for (const OpenMode mode : {OpenMode::existing, OpenMode::read_only}) {
    const auto opened = Database::open(file(), mode);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ErrorCode::unreadable);
    EXPECT_EQ(opened.error().line(), file() + ": cannot open: no such file or folder; check the path");
    EXPECT_FALSE(exists(file()));
  }
  EXPECT_EQ(Database::open(file("no/such/folder.db"), OpenMode::create).error().code, ErrorCode::unreadable);
}

TEST_F(SqliteTest, FolderInPlaceOfTheFileIsOneClearLine) {
  const auto opened = Database::open(m_folder->path(), OpenMode::existing);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().line().find("name a file, not a folder"), std::string::npos)
      << opened.error().line();
}

TEST_F(SqliteTest, GarbageIsNotADatabase) {
  const std::string garbage(8192, 'x');
  ASSERT_TRUE(write_file_atomic(file(), garbage));
  for (const OpenMode mode : {OpenMode::create, OpenMode::existing, OpenMode::read_only}) {
    const auto opened = Database::open(file(), mode);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ErrorCode::unreadable);
    EXPECT_EQ(opened.error().line().rfind(file() + ": is not a database; ", 0), 0U) << opened.error().line();
  }
  EXPECT_EQ(read_file(file()).value(), garbage) << "somebody else's file must stay as it is";
}

TEST_F(SqliteTest, TornFileIsFoundAtOpenOrByTheIntegrityCheck) {
  {
    Database database = open(file());
    ASSERT_TRUE(database.execute("CREATE TABLE t(a); CREATE INDEX i ON t(a)"));
    auto transaction = Transaction::begin(database);
    ASSERT_TRUE(transaction);
    auto insert = database.prepare("INSERT INTO t VALUES(?)");
    ASSERT_TRUE(insert);
    for (int i = 0; i < 2000; ++i) ASSERT_TRUE(insert->bind(1, std::string(100, 'a')).run());
    ASSERT_TRUE(transaction->commit());
  }
  const std::string whole = read_file(file()).value();
  ASSERT_GT(whole.size(), 100'000U);
  for (const std::size_t size : {std::size_t{50}, std::size_t{5000}, whole.size() / 2}) {
    ASSERT_TRUE(write_file_atomic(file("torn.db"), whole.substr(0, size)));
    auto opened = Database::open(file("torn.db"), OpenMode::existing);
    const Status checked = opened ? opened->check_integrity() : Status(tl::unexpected<Error>(opened.error()));
    ASSERT_FALSE(checked) << size;
    EXPECT_EQ(checked.error().code, ErrorCode::unreadable) << checked.error().line();
    EXPECT_NE(checked.error().line().find("torn.db"), std::string::npos);
    EXPECT_FALSE(checked.error().mend.empty());
  }
}

TEST_F(SqliteTest, FullDatabaseSaysDiskFullAndKeepsWhatWasAcknowledged) {
  Database database = open(file());
  ASSERT_TRUE(database.execute("CREATE TABLE t(a); PRAGMA max_page_count=8"));
  auto insert = database.prepare("INSERT INTO t VALUES(?)");
  ASSERT_TRUE(insert);
  int acknowledged = 0;
  Status last;
  while (acknowledged < 1000) {
    last = insert->bind(1, std::string(1000, 'a')).run();
    if (!last) break;
    ++acknowledged;
  }
  ASSERT_FALSE(last);
  EXPECT_EQ(last.error().code, ErrorCode::io);
  EXPECT_EQ(last.error().line().rfind(file() + ": cannot write: the disk is full; free some disk space", 0),
            0U);
  EXPECT_EQ(number(database, "SELECT count(*) FROM t"), acknowledged);
  EXPECT_TRUE(database.check_integrity());
}

TEST_F(SqliteTest, FileSizeLimitIsAnIoErrorAndTheFileStaysWhole) {
  const std::string path = file();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{64U << 10, 64U << 10};
    setrlimit(RLIMIT_FSIZE, &limit);
    auto database = Database::open(path, OpenMode::create);
    if (!database || !database->execute("CREATE TABLE t(a)")) _exit(2);
    for (int i = 0; i < 1000; ++i) {
      const Status put = database->execute("INSERT INTO t VALUES(randomblob(1000))");
      if (!put) _exit(put.error().code == ErrorCode::io && !put.error().mend.empty() ? 0 : 3);
    }
    _exit(4);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  Database database = open(path, OpenMode::existing);
  EXPECT_TRUE(database.check_integrity());
  EXPECT_GT(number(database, "SELECT count(*) FROM t"), 0);
}

TEST_F(SqliteTest, LockedDatabaseIsAConflict) {
  Database holder = open(file());
  ASSERT_TRUE(holder.execute("CREATE TABLE t(a)"));
  auto transaction = Transaction::begin(holder);
  ASSERT_TRUE(transaction);
  Database other = open(file());
  ASSERT_TRUE(other.execute("PRAGMA busy_timeout=1"));
  const auto begun = Transaction::begin(other);
  ASSERT_FALSE(begun);
  EXPECT_EQ(begun.error().code, ErrorCode::conflict);
  EXPECT_EQ(begun.error().line(),
            file() + ": is locked by another process; wait until it ends, or stop it, and try again");
}

TEST_F(SqliteTest, MigratesStepByStepAndOnlyOnce) {
  const std::vector<std::string_view> old{"CREATE TABLE t(a)"};
  const std::vector<std::string_view> now{"CREATE TABLE t(a)", "ALTER TABLE t ADD COLUMN b DEFAULT 5"};
  {
    Database database = open(file());
    ASSERT_TRUE(database.migrate(old));
    EXPECT_EQ(database.schema_version().value(), 1);
    ASSERT_TRUE(database.execute("INSERT INTO t VALUES(1)"));
  }
  Database database = open(file());
  ASSERT_TRUE(database.migrate(now));
  ASSERT_TRUE(database.migrate(now));
  EXPECT_EQ(database.schema_version().value(), 2);
  EXPECT_EQ(number(database, "SELECT b FROM t"), 5);
}

TEST_F(SqliteTest, FailedMigrationLeavesTheOldVersion) {
  Database database = open(file());
  const std::vector<std::string_view> steps{"CREATE TABLE t(a)", "CREATE TABLE u(a); CREATE TABLE t(a)"};
  EXPECT_FALSE(database.migrate(steps));
  EXPECT_EQ(database.schema_version().value(), 1);
  EXPECT_EQ(number(database, "SELECT count(*) FROM sqlite_master WHERE name='u'"), 0);
}

TEST_F(SqliteTest, NewerSchemaIsRefusedWithBothVersions) {
  Database database = open(file());
  ASSERT_TRUE(database.set_schema_version(7));
  const std::vector<std::string_view> steps{"CREATE TABLE t(a)"};
  const Status migrated = database.migrate(steps);
  ASSERT_FALSE(migrated);
  EXPECT_EQ(migrated.error().code, ErrorCode::invalid);
  EXPECT_EQ(migrated.error().line(),
            file() +
                ": has schema version 7, this program knows versions up to 1; open it with "
                "the newer tunesmith that wrote it");
}

TEST_F(SqliteTest, ReaderSeesCommittedRowsWhileTheWriterWrites) {
  Database writer = open(file());
  ASSERT_TRUE(writer.execute("CREATE TABLE t(a); INSERT INTO t VALUES(1)"));
  auto transaction = Transaction::begin(writer);
  ASSERT_TRUE(transaction);
  ASSERT_TRUE(writer.execute("INSERT INTO t VALUES(2)"));
  Database reader = open(file(), OpenMode::read_only);
  EXPECT_EQ(number(reader, "SELECT count(*) FROM t"), 1);
  ASSERT_TRUE(transaction->commit());
  EXPECT_EQ(number(reader, "SELECT count(*) FROM t"), 2);
  const auto written = reader.execute("INSERT INTO t VALUES(3)");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::io);
}

TEST_F(SqliteTest, ClosedDatabaseInAReadOnlyFolderCanBeRead) {
  const std::string folder = file("odd?name#%41");
  ASSERT_TRUE(make_folders(folder));
  {
    Database writer = open(folder + "/j.db");
    ASSERT_TRUE(writer.execute("CREATE TABLE t(a); INSERT INTO t VALUES(42)"));
  }
  ASSERT_EQ(chmod(folder.c_str(), 0555), 0);
  // Root writes everywhere, so the child gives that up first.
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0) {
      chmod(parent_folder(folder).c_str(), 0755);
      if (setgid(65534) != 0 || setuid(65534) != 0) _exit(5);
    }
    auto reader = Database::open(folder + "/j.db", OpenMode::read_only);
    if (!reader) _exit(2);
    auto select = reader->prepare("SELECT a FROM t");
    _exit(select && select->step().value_or(false) && select->integer(0) == 42 ? 0 : 3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  chmod(folder.c_str(), 0755);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(SqliteTest, MemoryAndUriNamesAreOrdinaryFiles) {
  Database database = open(file("file:x?mode=memory"));
  ASSERT_TRUE(database.execute("CREATE TABLE t(a)"));
  EXPECT_TRUE(exists(file("file:x?mode=memory")));
  EXPECT_FALSE(Database::open("", OpenMode::create));
}

namespace {

/// Inserts 1, 2, 3, … and writes each number to the pipe once its commit is acknowledged.
[[noreturn]] void insert_for_ever(const std::string& path, int pipe) {
  auto database = Database::open(path, OpenMode::create, Durability::full);
  if (!database) _exit(2);
  if (!database->execute("CREATE TABLE IF NOT EXISTS t(a INTEGER PRIMARY KEY, b TEXT)")) _exit(3);
  auto insert = database->prepare("INSERT INTO t VALUES((SELECT coalesce(max(a),0)+1 FROM t), ?)");
  if (!insert) _exit(4);
  while (true) {
    if (!insert->bind(1, std::string(3000, 'b')).run()) _exit(5);
    const std::int64_t id = database->last_insert_id();
    if (write(pipe, &id, sizeof id) != sizeof id) _exit(6);
  }
}

}  // namespace

TEST_F(SqliteTest, EveryAcknowledgedRowSurvivesKillAtAnyInstant) {
  Rng rng(1);
  std::int64_t acknowledged = 0;
  for (int round = 0; round < 25; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      close(ends[0]);
      insert_for_ever(file(), ends[1]);
    }
    close(ends[1]);
    const std::uint64_t rows = 1 + rng.below(30);
    std::int64_t id = 0;
    for (std::uint64_t i = 0; i < rows && read(ends[0], &id, sizeof id) == sizeof id; ++i) acknowledged = id;
    usleep(static_cast<useconds_t>(rng.below(2000)));  // to die at any place between two commits
    kill(child, SIGKILL);
    while (read(ends[0], &id, sizeof id) == sizeof id) acknowledged = id;
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child gave up by itself with " << WEXITSTATUS(status);

    Database database = open(file(), OpenMode::existing);
    ASSERT_TRUE(database.check_integrity());
    ASSERT_GE(number(database, "SELECT max(a) FROM t"), acknowledged);
    ASSERT_EQ(number(database, "SELECT max(a) = count(*) FROM t"), 1) << "a gap";
  }
  EXPECT_GT(acknowledged, 25);
}
