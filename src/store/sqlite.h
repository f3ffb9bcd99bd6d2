// SQLite behind a small SQL layer: RAII, errors as values, WAL. What the rows mean is the caller's business.
// One connection belongs to one thread at a time. Errors name the file: disk full and refused writes are
// `io`, a lock held longer than five seconds is `conflict`, a file that is no database or is damaged is
// `unreadable`, a newer schema or a broken constraint is `invalid`.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace tunesmith::store {

enum class Durability { normal, full };  ///< full: fsync at every commit (decisions); normal: at checkpoints
enum class OpenMode { create, existing, read_only };

class Statement;

class Database {
 public:
  /// Always a file: ":memory:" and "file:" have no special meaning. `create` makes it when absent (not its
  /// folder).
  [[nodiscard]] static Result<Database> open(const std::string& path, OpenMode mode,
                                             Durability durability = Durability::full);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();
  [[nodiscard]] Status execute(std::string_view sql);  ///< any number of statements; rows are dropped
  [[nodiscard]] Result<Statement> prepare(std::string_view sql);
  [[nodiscard]] std::int64_t last_insert_id() const;
  [[nodiscard]] Result<std::int64_t> schema_version();
  [[nodiscard]] Status set_schema_version(std::int64_t version);
  /// Brings the schema to version steps.size(): step i leads from version i to i + 1, each in its own
  /// transaction. Refuses a file whose version is above that: a newer program wrote it.
  [[nodiscard]] Status migrate(std::span<const std::string_view> steps);
  /// Reads the whole file and refuses it when it is damaged; takes about a second per gigabyte.
  [[nodiscard]] Status check_integrity();
  [[nodiscard]] const std::string& path() const { return m_path; }

 private:
  Database() = default;
  sqlite3* m_handle = nullptr;
  std::string m_path;
};

/// Bind from 1, step, read columns from 0. A NaN is stored as NULL. A wrong index shows as an error of
/// step().
class Statement {
 public:
  Statement(Statement&&) noexcept;
  Statement& operator=(Statement&&) noexcept;
  ~Statement();
  Statement& bind(int index, std::int64_t value);
  Statement& bind(int index, double value);
  Statement& bind(int index, std::string_view value);
  template <std::integral T>
  requires(!std::same_as<T, std::int64_t>) Statement& bind(int index, T value) {
    return bind(index, static_cast<std::int64_t>(value));
  }
  Statement& bind_null(int index);
  [[nodiscard]] Result<bool> step();  ///< true: a row is there; false: done
  [[nodiscard]] Status run();         ///< step to the end, then reset
  void reset();                       ///< ready for the next run; values stay bound
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] bool is_null(int column) const;

 private:
  friend class Database;
  Statement() = default;
  sqlite3_stmt* m_handle = nullptr;
  int m_bind_code = 0;
  std::string m_path;
};

/// Takes the write lock at once and rolls back unless commit() was called. The database must not move
/// meanwhile.
class Transaction {
 public:
  [[nodiscard]] static Result<Transaction> begin(Database& database);
  Transaction(Transaction&&) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  [[nodiscard]] Status commit();

 private:
  explicit Transaction(Database& database) : m_database(&database) {}
  Database* m_database;
};

}  // namespace tunesmith::store
