#include "store/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "base/file.h"

namespace tunesmith::store {

namespace {

// Long enough for another process's commit on a slow disk, short enough that a person still waits for it.
constexpr int k_busy_ms = 5000;

Place at(const std::string& path) { return Place{path, 0, 0, {}}; }

tl::unexpected<Error> locked(const std::string& path) {
  return fail(ErrorCode::conflict, "is locked by another process",
              "wait until it ends, or stop it, and try again", at(path));
}

tl::unexpected<Error> sqlite_error(sqlite3* handle, int code, const std::string& path) {
  const int primary = code & 0xFF;
  const int number = handle != nullptr ? sqlite3_system_errno(handle) : 0;
  const std::string reason = handle != nullptr ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
  switch (primary) {
    case SQLITE_FULL:
      return fail(ErrorCode::io, "cannot write: the disk is full",
                  "free some disk space and run it again; everything acknowledged so far is kept", at(path));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return locked(path);
    case SQLITE_NOTADB:
      return fail(ErrorCode::unreadable, "is not a database",
                  "check the path; if it is the right file, it is damaged: restore it or start a new run",
                  at(path));
    case SQLITE_CORRUPT:
      return fail(ErrorCode::unreadable, fmt::format("the database is damaged ({})", reason),
                  "restore it from a copy or start a new run", at(path));
    case SQLITE_CANTOPEN:
      if (number == ENOENT || (number == 0 && !exists(path))) {
        return fail(ErrorCode::unreadable, "cannot open: no such file or folder", "check the path", at(path));
      }
      return fail(
          number == ENOSPC ? ErrorCode::io : ErrorCode::unreadable,
          fmt::format("cannot open: {}", number != 0 ? errno_text(number) : reason),
          is_folder(path) ? "name a file, not a folder" : "check its permissions and those of its folder",
          at(path));
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return fail(ErrorCode::io, "cannot write: the file or its folder is read-only",
                  "check their permissions and owner", at(path));
    case SQLITE_IOERR:
      return fail(ErrorCode::io,
                  fmt::format("cannot read or write: {}", number != 0 ? errno_text(number) : reason),
                  number == ENOSPC || number == EDQUOT || number == EFBIG
                      ? "free some disk space (or raise the quota or file size limit) and run it again"
                      : "check the disk and run it again",
                  at(path));
    case SQLITE_CONSTRAINT:
      return fail(ErrorCode::invalid, fmt::format("the database refuses the row: {}", reason), "", at(path));
    case SQLITE_NOMEM:
      return fail(ErrorCode::infra, "out of memory in the database", "", at(path));
    default:
      return fail(ErrorCode::internal, fmt::format("database error: {}", reason), "", at(path));
  }
}

/// A read-only archive cannot take WAL's shared memory file. Without a log beside it, nothing can be missed
/// when it is read as it lies.
std::string immutable_uri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '?' || c == '#' || c == '%') {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

int run_sql(sqlite3* handle, const char* sql) { return sqlite3_exec(handle, sql, nullptr, nullptr, nullptr); }

/// The switch to WAL needs the file alone and does not wait by itself.
int switch_to_wal(sqlite3* handle) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(k_busy_ms);
  while (true) {
    const int code = run_sql(handle, "PRAGMA journal_mode=WAL");
    if ((code & 0xFF) != SQLITE_BUSY || std::chrono::steady_clock::now() > end) return code;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

int prepare_connection(sqlite3* handle, OpenMode mode, Durability durability) {
  sqlite3_busy_timeout(handle, k_busy_ms);
  sqlite3_extended_result_codes(handle, 1);
  int code = run_sql(handle, "PRAGMA foreign_keys=ON");
  if (code == SQLITE_OK && mode != OpenMode::read_only) {
    code = switch_to_wal(handle);
    if (code == SQLITE_OK) {
      code = run_sql(
          handle, durability == Durability::full ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
    }
  }
  // The first read finds out whether this is a database at all.
  if (code == SQLITE_OK) code = run_sql(handle, "SELECT count(*) FROM sqlite_master");
  return code;
}

}  // namespace

Result<Database> Database::open(const std::string& path, OpenMode mode, Durability durability) {
  if (path.empty()) return fail(ErrorCode::usage, "the path of the database is empty");
  const std::string absolute = absolute_path(path);
  int flags = SQLITE_OPEN_NOMUTEX;
  switch (mode) {
    case OpenMode::create:
      flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
      break;
    case OpenMode::existing:
      flags |= SQLITE_OPEN_READWRITE;
      break;
    case OpenMode::read_only:
      flags |= SQLITE_OPEN_READONLY;
      break;
  }
  Database database;
  database.m_path = path;
  int code = sqlite3_open_v2(absolute.c_str(), &database.m_handle, flags, nullptr);
  if (code == SQLITE_OK) code = prepare_connection(database.m_handle, mode, durability);
  const int primary = code & 0xFF;
  if (mode == OpenMode::read_only && (primary == SQLITE_CANTOPEN || primary == SQLITE_READONLY) &&
      exists(absolute) && !is_folder(absolute) && !exists(absolute + "-wal")) {
    sqlite3_close_v2(std::exchange(database.m_handle, nullptr));
    code = sqlite3_open_v2(immutable_uri(absolute).c_str(), &database.m_handle, flags | SQLITE_OPEN_URI,
                           nullptr);
    if (code == SQLITE_OK) code = prepare_connection(database.m_handle, mode, durability);
  }
  if (code != SQLITE_OK) return sqlite_error(database.m_handle, code, path);
  return database;
}

Database::Database(Database&& other) noexcept
    : m_handle(std::exchange(other.m_handle, nullptr)), m_path(std::move(other.m_path)) {}

Database& Database::operator=(Database&& other) noexcept {
  std::swap(m_handle, other.m_handle);
  std::swap(m_path, other.m_path);
  return *this;
}

// The v2 form waits for statements that are still alive.
Database::~Database() { sqlite3_close_v2(m_handle); }

Status Database::execute(std::string_view sql) {
  const int code = run_sql(m_handle, std::string(sql).c_str());
  if (code != SQLITE_OK) return sqlite_error(m_handle, code, m_path);
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) {
  Statement statement;
  statement.m_path = m_path;
  const int code =
      sqlite3_prepare_v2(m_handle, sql.data(), static_cast<int>(sql.size()), &statement.m_handle, nullptr);
  if (code != SQLITE_OK) return sqlite_error(m_handle, code, m_path);
  if (statement.m_handle == nullptr)
    return fail(ErrorCode::internal, "an empty SQL statement", "", at(m_path));
  return statement;
}

std::int64_t Database::last_insert_id() const { return sqlite3_last_insert_rowid(m_handle); }

Result<std::int64_t> Database::schema_version() {
  TS_ASSIGN(Statement statement, prepare("PRAGMA user_version"));
  TS_ASSIGN(const bool row, statement.step());
  return row ? statement.integer(0) : 0;
}

Status Database::set_schema_version(std::int64_t version) {
  return execute(fmt::format("PRAGMA user_version={}", version));
}

Status Database::migrate(std::span<const std::string_view> steps) {
  const auto known = static_cast<std::int64_t>(steps.size());
  while (true) {
    TS_ASSIGN(const std::int64_t seen, schema_version());
    if (seen == known) return {};
    if (seen > known || seen < 0) {
      return fail(ErrorCode::invalid,
                  fmt::format("has schema version {}, this program knows versions up to {}", seen, known),
                  "open it with the newer tunesmith that wrote it", at(m_path));
    }
    TS_ASSIGN(Transaction transaction, Transaction::begin(*this));
    // Another process may have migrated between the look and the lock.
    TS_ASSIGN(const std::int64_t version, schema_version());
    if (version != seen) continue;
    TS_TRY(execute(steps[static_cast<std::size_t>(version)]));
    TS_TRY(set_schema_version(version + 1));
    TS_TRY(transaction.commit());
  }
}

Status Database::check_integrity() {
  TS_ASSIGN(Statement statement, prepare("PRAGMA integrity_check(1)"));
  TS_ASSIGN(const bool row, statement.step());
  const std::string found = row ? statement.text(0) : "no answer";
  if (found == "ok") return {};
  return fail(ErrorCode::unreadable, fmt::format("the database is damaged ({})", found),
              "restore it from a copy or start a new run", at(m_path));
}

Statement::Statement(Statement&& other) noexcept
    : m_handle(std::exchange(other.m_handle, nullptr)),
      m_bind_code(other.m_bind_code),
      m_path(std::move(other.m_path)) {}

Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(m_handle, other.m_handle);
  std::swap(m_bind_code, other.m_bind_code);
  std::swap(m_path, other.m_path);
  return *this;
}

Statement::~Statement() { sqlite3_finalize(m_handle); }

Statement& Statement::bind(int index, std::int64_t value) {
  m_bind_code |= sqlite3_bind_int64(m_handle, index, value);
  return *this;
}

Statement& Statement::bind(int index, double value) {
  m_bind_code |= sqlite3_bind_double(m_handle, index, value);
  return *this;
}

Statement& Statement::bind(int index, std::string_view value) {
  // A null pointer would bind NULL, and an empty text is no NULL.
  const char* data = value.data() != nullptr ? value.data() : "";
  m_bind_code |= sqlite3_bind_text64(m_handle, index, data, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind_null(int index) {
  m_bind_code |= sqlite3_bind_null(m_handle, index);
  return *this;
}

Result<bool> Statement::step() {
  if (m_bind_code != SQLITE_OK) {
    return fail(ErrorCode::internal, fmt::format("a value was bound wrongly to: {}", sqlite3_sql(m_handle)),
                "", at(m_path));
  }
  const int code = sqlite3_step(m_handle);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  auto error = sqlite_error(sqlite3_db_handle(m_handle), code, m_path);
  sqlite3_reset(m_handle);
  return error;
}

Status Statement::run() {
  while (true) {
    TS_ASSIGN(const bool row, step());
    if (!row) break;
  }
  reset();
  return {};
}

void Statement::reset() {
  sqlite3_reset(m_handle);
  m_bind_code = SQLITE_OK;
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(m_handle, column); }
double Statement::real(int column) const { return sqlite3_column_double(m_handle, column); }

std::string Statement::text(int column) const {
  // First the pointer, then the size: the first may convert the value.
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(m_handle, column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(m_handle, column))};
}

bool Statement::is_null(int column) const { return sqlite3_column_type(m_handle, column) == SQLITE_NULL; }

Result<Transaction> Transaction::begin(Database& database) {
  // IMMEDIATE: a lock that is asked for late, after a read, fails at once instead of waiting.
  TS_TRY(database.execute("BEGIN IMMEDIATE"));
  return Transaction(database);
}

Transaction::Transaction(Transaction&& other) noexcept
    : m_database(std::exchange(other.m_database, nullptr)) {}

Transaction::~Transaction() {
  // After a full disk SQLite has rolled back by itself and this changes nothing.
  if (m_database != nullptr) (void)m_database->execute("ROLLBACK");
}

Status Transaction::commit() {
  if (m_database == nullptr) return fail(ErrorCode::internal, "the transaction has ended already");
  TS_TRY(m_database->execute("COMMIT"));
  m_database = nullptr;
  return {};
}

}  // namespace tunesmith::store
