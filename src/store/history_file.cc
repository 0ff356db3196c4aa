#include "store/history_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>

#include "store/layout.h"

namespace spotter::store {
namespace {

constexpr i64 kApplicationId = 0x53504f54;  // "SPOT"

tl::unexpected<Error> foreign(const std::string& path) {
  return fail(Code::invalid, "{} is no history of Spotter; give another path, or remove it", path);
}

// Before SQLite sees it, which would lay hands on it. False: it is not there, or empty.
Result<bool> is_history(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.fd < 0) {
    const int error = errno;
    if (error == ENOENT) return false;
    return fail(error == EACCES ? Code::denied : Code::io, "{}: {}", path, errno_text(error));
  }
  struct stat facts{};
  if (::fstat(file.fd, &facts) != 0 || !S_ISREG(facts.st_mode)) return foreign(path);
  if (facts.st_size == 0) return false;
  unsigned char header[100];  // https://www.sqlite.org/fileformat.html, section 1.3
  if (::pread(file.fd, header, sizeof header, 0) != sizeof header) return foreign(path);
  const i64 id = i64{header[68]} << 24 | header[69] << 16 | header[70] << 8 | header[71];
  const std::string_view magic("SQLite format 3\0", 16);
  if (std::string_view(reinterpret_cast<const char*>(header), 16) != magic || id != kApplicationId)
    return foreign(path);
  return true;
}

Result<Descriptor> lock(const std::string& path) {
  const std::string name = path + ".lock";
  Descriptor file(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (file.fd < 0) {
    const int error = errno;
    const Code code = error == ENOENT ? Code::not_found : error == EACCES ? Code::denied : Code::io;
    return fail(code, "{}: {}", name, errno_text(error));
  }
  if (::flock(file.fd, LOCK_EX | LOCK_NB) != 0) {
    char holder[32] = {};
    if (::pread(file.fd, holder, sizeof holder - 1, 0) <= 0) holder[0] = '?';
    return fail(Code::busy, "{} is written by another process already ({})", path, holder);
  }
  // For the sentence above only.
  const std::string own = std::to_string(::getpid());
  if (::ftruncate(file.fd, 0) == 0) (void)!::pwrite(file.fd, own.data(), own.size(), 0);
  return file;
}

// The mark is in the file itself before there is a log beside it: is_history() reads it there. A file that
// shrinks gives pages back in parts; little memory; what is deleted is not overwritten.
Result<Database> open_to_write(const std::string& path, i64 most_bytes) {
  TRY_ASSIGN(Database database, Database::open(path, Database::Access::write));
  TRY_ASSIGN(const i64 id, database.integer("PRAGMA application_id"));
  if (id != kApplicationId) {
    TRY(database.run("PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL"));
    TRY(database.run(fmt::format("PRAGMA application_id = {}", kApplicationId).c_str()));
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
  struct stat facts{};
  if (::stat(file.path.c_str(), &facts) != 0) return fail(Code::io, "{}: {}", file.path, errno_text(errno));
  file.device = facts.st_dev;
  file.inode = facts.st_ino;
  return {};
}

Result<std::string> move_aside(const std::string& path) {
  const std::string target = path + ".corrupt";
  std::remove((target + "-wal").c_str());
  // It may have been moved already, and could not be begun anew.
  if (std::rename(path.c_str(), target.c_str()) != 0 && errno != ENOENT)
    return fail(Code::io, "{} is damaged and cannot be moved to {}: {}", path, target, errno_text(errno));
  std::rename((path + "-wal").c_str(), (target + "-wal").c_str());
  std::remove((path + "-shm").c_str());
  std::remove((path + "-journal").c_str());
  return target;
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
  TRY(is_history(path));
  TRY_ASSIGN(Descriptor held, lock(path));
  HistoryFile file{path, std::move(held), {}, {}};
  const Result<void> opened = open_to_write(file, most_bytes);
  if (opened) return file;
  if (opened.error().code != Code::corrupt) return tl::unexpected(opened.error());
  TRY(begin_anew(file, most_bytes));
  return file;
}

bool is_in_place(const HistoryFile& file) {
  struct stat there{};
  if (::stat(file.path.c_str(), &there) != 0) return errno != ENOENT && errno != ENOTDIR;
  return there.st_dev == file.device && there.st_ino == file.inode;
}

Result<void> begin_anew(HistoryFile& file, i64 most_bytes) {
  file.database = {};
  TRY_ASSIGN(file.moved_to, move_aside(file.path));
  return open_to_write(file, most_bytes);
}

Result<Database> open_history_to_read(const std::string& path) {
  TRY_ASSIGN(const bool is_there, is_history(path));
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
