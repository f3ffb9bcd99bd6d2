// SQLite behind a small SQL layer: RAII, errors as values, WAL. What the rows mean is the caller's business.
#pragma once

#include <cstdint>
#include <optional>
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
  [[nodiscard]] static Result<Database> open(const std::string& path, OpenMode mode, Durability durability = Durability::full);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();
  [[nodiscard]] Status execute(std::string_view sql);
  [[nodiscard]] Result<Statement> prepare(std::string_view sql);
  [[nodiscard]] std::int64_t last_insert_id() const;
  [[nodiscard]] Result<std::int64_t> schema_version();
  [[nodiscard]] Status set_schema_version(std::int64_t version);
  [[nodiscard]] const std::string& path() const { return m_path; }

 private:
  Database() = default;
  sqlite3* m_handle = nullptr;
  std::string m_path;
};

/// Bind from 1, step, read columns from 0.
class Statement {
 public:
  Statement(Statement&&) noexcept;
  Statement& operator=(Statement&&) noexcept;
  ~Statement();
  Statement& bind(int index, std::int64_t value);
  Statement& bind(int index, double value);
  Statement& bind(int index, std::string_view value);
  Statement& bind_null(int index);
  [[nodiscard]] Result<bool> step();  ///< true: a row is there; false: done
  [[nodiscard]] Status run();         ///< step to the end, then reset
  void reset();
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] bool is_null(int column) const;

 private:
  friend class Database;
  Statement() = default;
  sqlite3_stmt* m_handle = nullptr;
  std::string m_path;
};

/// Rolls back unless commit() was called.
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
