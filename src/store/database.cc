#include "store/database.h"

#include <sqlite3.h>

namespace spotter::store {
namespace {

Code code_of_status(int status) {
  switch (status & 0xFF) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
      return Code::corrupt;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Code::busy;
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
      return Code::denied;
    default:
      return Code::io;
  }
}

tl::unexpected<Error> error_of(sqlite3* connection) {
  const char* file = sqlite3_db_filename(connection, "main");
  return fail(code_of_status(sqlite3_errcode(connection)), "{}: {}",
              file && *file ? file : "the database in memory", sqlite3_errmsg(connection));
}

// SQLite takes an empty view's nullptr for NULL.
const char* begin_of(std::string_view bytes) { return bytes.empty() ? "" : bytes.data(); }

// https://www.sqlite.org/uri.html
std::string uri_of(const std::string& path, bool is_still) {
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '?' || c == '#' || c == '%') {
      uri += fmt::format("%{:02X}", static_cast<int>(c));
    } else {
      uri += c;
    }
  }
  return uri + (is_still ? "?immutable=1" : "");
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

void Statement::reset() { sqlite3_reset(statement_.get()); }

// Texts and blobs are bound by reference: they have to live until the statement has run.
void Statement::bind_one(int index, i64 value) { sqlite3_bind_int64(statement_.get(), index, value); }
void Statement::bind_one(int index, std::string_view text) {
  sqlite3_bind_text64(statement_.get(), index, begin_of(text), text.size(), SQLITE_STATIC, SQLITE_UTF8);
}
void Statement::bind_one(int index, std::nullptr_t) { sqlite3_bind_null(statement_.get(), index); }
void Statement::bind_one(int index, const Blob& blob) {
  sqlite3_bind_blob64(statement_.get(), index, begin_of(blob.bytes), blob.bytes.size(), SQLITE_STATIC);
}

Result<bool> Statement::step() {
  const int status = sqlite3_step(statement_.get());
  if (status == SQLITE_ROW) return true;
  if (status == SQLITE_DONE) {
    reset();
    return false;
  }
  auto error = error_of(sqlite3_db_handle(statement_.get()));
  reset();
  return error;
}

Result<void> Statement::run() {
  TRY(step());
  reset();
  return {};
}

i64 Statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::string_view Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  return {text ? text : "", static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

std::string_view Statement::blob(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  return {bytes ? bytes : "", static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

void Database::Close::operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }

Result<Database> Database::open(const std::string& path, Access access) {
  Database database;
  database.path_ = path;
  sqlite3* connection = nullptr;
  const int flags = access == Access::write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                            : SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
  const std::string name = access == Access::write ? path : uri_of(path, access == Access::read_still);
  const int status = sqlite3_open_v2(name.c_str(), &connection, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  database.connection_.reset(connection);
  if (status != SQLITE_OK)
    return fail(code_of_status(status), "{}: {}", path,
                connection ? sqlite3_errmsg(connection) : sqlite3_errstr(status));
  sqlite3_extended_result_codes(connection, 1);
  sqlite3_busy_timeout(connection, 5000);
  return database;
}

Result<void> Database::run(const char* sql) {
  if (sqlite3_exec(connection_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    return error_of(connection_.get());
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) {
  Statement statement;
  sqlite3_stmt* prepared = nullptr;
  const int status = sqlite3_prepare_v3(connection_.get(), sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &prepared, nullptr);
  statement.statement_.reset(prepared);
  if (status != SQLITE_OK) return error_of(connection_.get());
  return statement;
}

Result<i64> Database::integer(std::string_view sql) {
  TRY_ASSIGN(Statement statement, prepare(sql));
  TRY_ASSIGN(const bool is_there, statement.step());
  return is_there ? statement.integer(0) : 0;
}

i64 Database::last_id() const { return sqlite3_last_insert_rowid(connection_.get()); }

Result<Transaction> Transaction::begin(Database& database) {
  TRY(database.run("BEGIN IMMEDIATE"));
  return Transaction(database);
}

Transaction::~Transaction() {
  // An error is that SQLite has rolled it back already.
  if (database_) (void)database_->run("ROLLBACK");
}

Result<void> Transaction::commit() {
  TRY(database_->run("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace spotter::store
