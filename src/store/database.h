// SQLite's connection, statements and transactions with Results. The only file that calls SQLite. A
// connection and its statements belong to one thread at a time. Errors name the file; their codes: corrupt
// (damaged, or no database at all), busy (another connection writes), denied, io (disk full and all else).
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/types.h"

struct sqlite3;
struct sqlite3_stmt;

namespace spotter::store {

// Prepared once, run any number of times: bind, then step until false or error; bind again resets it.
class Statement {
 public:
  Statement() = default;

  template <class... A>
  Statement& bind(const A&... values) {
    reset();
    int index = 0;
    (bind_one(++index, values), ...);
    return *this;
  }
  Result<bool> step();  // true: a row is there
  Result<void> run();   // for what gives no rows
  void reset();         // lets go of the read transaction that a statement holds while it has rows

  // Of the row that is there; texts and blobs until the next step.
  i64 integer(int column) const;  // 0 where null
  bool is_null(int column) const;
  std::string_view text(int column) const;
  std::string_view blob(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  struct Blob {
    std::string_view bytes;
  };
  void bind_one(int index, i64 value);
  void bind_one(int index, std::string_view text);
  void bind_one(int index, std::nullptr_t);
  void bind_one(int index, const Blob& blob);

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;

 public:
  static Blob as_blob(std::string_view bytes) { return {bytes}; }
};

class Database {
 public:
  enum class Access : u8 {
    write,
    read,
    read_still,  // nobody writes it: needs no files beside it, so also where the folder may not be written
  };
  static Result<Database> open(const std::string& path, Access access);
  Database() = default;

  const std::string& path() const { return path_; }
  Result<void> run(const char* sql);  // any number of statements without parameters and rows
  Result<Statement> prepare(std::string_view sql);
  Result<i64> integer(std::string_view sql);  // the first value of the first row; 0 if there is none
  i64 last_id() const;

 private:
  struct Close {
    void operator()(sqlite3* connection) const;
  };
  std::string path_;
  std::unique_ptr<sqlite3, Close> connection_;
};

// Rolled back where it is not committed.
class Transaction {
 public:
  static Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Result<void> commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;  // nullptr: over
};

}  // namespace spotter::store
