#include "store/database_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace spotter::store {
namespace {

tl::unexpected<Error> foreign(const DatabaseKind& kind, const std::string& path) {
  return fail(Code::invalid, "{} is no {} of Spotter; give another path, or remove it", path, kind.noun);
}

}  // namespace

Result<bool> is_of_kind(const DatabaseKind& kind, const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.fd < 0) {
    const int error = errno;
    if (error == ENOENT) return false;
    return fail(error == EACCES ? Code::denied : Code::io, "{}: {}", path, errno_text(error));
  }
  struct stat facts{};
  if (::fstat(file.fd, &facts) != 0 || !S_ISREG(facts.st_mode)) return foreign(kind, path);
  if (facts.st_size == 0) return false;
  unsigned char header[100];  // https://www.sqlite.org/fileformat.html, section 1.3
  if (::pread(file.fd, header, sizeof header, 0) != sizeof header) return foreign(kind, path);
  const i64 id = i64{header[68]} << 24 | header[69] << 16 | header[70] << 8 | header[71];
  const std::string_view magic("SQLite format 3\0", 16);
  if (std::string_view(reinterpret_cast<const char*>(header), 16) != magic || id != kind.application_id)
    return foreign(kind, path);
  return true;
}

Result<Descriptor> lock_database(const std::string& path) {
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

Result<FileIdentity> identity_of(const std::string& path) {
  struct stat facts{};
  if (::stat(path.c_str(), &facts) != 0) return fail(Code::io, "{}: {}", path, errno_text(errno));
  return FileIdentity{facts.st_dev, facts.st_ino};
}

bool is_in_place(const std::string& path, const FileIdentity& opened) {
  struct stat there{};
  if (::stat(path.c_str(), &there) != 0) return errno != ENOENT && errno != ENOTDIR;
  return there.st_dev == opened.device && there.st_ino == opened.inode;
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

}  // namespace spotter::store
