#include "store/history_file.h"

#include <unistd.h>

#include <algorithm>

#include "store/layout.h"

namespace spotter::store {
namespace {

constexpr DatabaseKind kKind{0x53504f54, "history"};  // "SPOT"

// The mark is in the file itself before there is a log beside it: is_of_kind() reads it there. A file that
// shrinks gives pages back in parts; little memory; what is deleted is not overwritten.
Result<Database> open_to_write(const std::string& path, i64 most_bytes) {
  TRY_ASSIGN(Database database, Database::open(path, Database::Access::write));
  TRY_ASSIGN(const i64 id, database.integer("PRAGMA application_id"));
  if (id != kKind.application_id) {
    TRY(database.run("PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL"));
    TRY(database.run(fmt::format("PRAGMA application_id = {}", kKind.application_id).c_str()));
  }
  const i64 wal = wal_bytes(most_bytes);
  TRY(database.run(fmt::format("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; "
                               "PRAGMA cache_size = -512; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY; "
                               "PRAGMA secure_delete = OFF; PRAGMA journal_size_limit = {}; "
                               "PRAGMA wal_autocheckpoint = {}; PRAGMA max_page_count = {}",
                               wal, std::max<i64>(wal / 2 / kPageBytes, 8), most_pages(most_bytes))
                       .c_str()));
  TRY(bring_up_to_date(database));
  TRY(database.integer("SELECT count(*) FROM schemas"));
  TRY(database.integer("SELECT max(id) FROM blocks"));
  return database;
}

Result<void> open_to_write(HistoryFile& file, i64 most_bytes) {
  TRY_ASSIGN(file.database, open_to_write(file.path, most_bytes));
  TRY_ASSIGN(file.identity, identity_of(file.path));
  return {};
}

}  // namespace

i64 wal_bytes(i64 most_bytes) { return std::clamp<i64>(most_bytes / 8, 128 << 10, 1 << 20); }

i64 journal_bytes(i64 most_bytes) { return std::clamp<i64>(most_bytes / 32, 64 << 10, 8 << 20); }

// A transaction may make the log longer than its limit for a moment; there are two journals while one takes
// the other's place; and there is NAME-shm.
i64 most_pages(i64 most_bytes) {
  return (most_bytes - 2 * wal_bytes(most_bytes) - 2 * journal_bytes(most_bytes) - (32 << 10)) / kPageBytes;
}

Result<HistoryFile> open_history_file(const std::string& path, i64 most_bytes) {
  TRY(is_of_kind(kKind, path));
  TRY_ASSIGN(Descriptor held, lock_database(path));
  HistoryFile file{path, std::move(held), {}, {}, {}};
  const Result<void> opened = open_to_write(file, most_bytes);
  if (opened) return file;
  if (opened.error().code != Code::corrupt) return tl::unexpected(opened.error());
  TRY(begin_anew(file, most_bytes));
  return file;
}

bool is_in_place(const HistoryFile& file) { return is_in_place(file.path, file.identity); }

Result<void> begin_anew(HistoryFile& file, i64 most_bytes) {
  file.database = {};
  TRY_ASSIGN(file.moved_to, move_aside(file.path));
  return open_to_write(file, most_bytes);
}

Result<Database> open_history_to_read(const std::string& path) {
  TRY_ASSIGN(const bool is_there, is_of_kind(kKind, path));
  if (!is_there) return fail(Code::not_found, "{} is no history yet", path);
  const auto open = [&](Database::Access access) -> Result<Database> {
    TRY_ASSIGN(Database database, Database::open(path, access));
    TRY(check_layout(database));
    TRY(database.run("PRAGMA cache_size = -512; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY"));
    TRY(database.integer("SELECT count(*) FROM schemas"));
    return database;
  };
  Result<Database> database = open(Database::Access::read);
  // Who may not write to the folder cannot make the files that readers share; without a log none are needed.
  if (!database && ::access((path + "-wal").c_str(), F_OK) != 0) return open(Database::Access::read_still);
  return database;
}

}  // namespace spotter::store
