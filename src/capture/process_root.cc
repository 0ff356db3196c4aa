#include "capture/process_root.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "base/saturated.h"
#include "base/system/file_inside.h"
#include "base/time.h"

namespace spotter::capture {
namespace {

constexpr size_t kHeadBytes = size_t{256} << 10;  // metadata alone is shorter

// Whether a trace that is this short says anything but metadata. Longer ones always do, and of one that may
// not be read it is taken for granted.
bool has_events(const Descriptor& found, i64 size) {
  if (size > static_cast<i64>(kHeadBytes)) return true;
  const Descriptor file = open_for_reading(found);
  if (file.fd < 0) return true;
  std::string text(static_cast<size_t>(size), '\0');
  const ssize_t n = pread(file.fd, text.data(), text.size(), 0);
  text.resize(static_cast<size_t>(std::max<ssize_t>(n, 0)));
  // Every event of a capture's own is a span; "ph" is written with or without a blank.
  return text.find("\"ph\": \"X\"") != text.npos || text.find("\"ph\":\"X\"") != text.npos;
}

// A user whom this namespace does not map owns nothing that could be told from another's.
bool is_of(const struct stat& file, i64 uid, std::optional<i64> unmapped) {
  return static_cast<i64>(file.st_uid) == uid && uid != unmapped;
}

// Whose file it is may set any time.
Ns unix_time(const timespec& time) {
  return add_saturated(multiply_saturated(Ns{time.tv_sec}, kSecond), Ns{time.tv_nsec});
}

}  // namespace

ProcessRoot ProcessRoot::open(const Host& host, i64 pid, std::optional<i64> unmapped) {
  ProcessRoot root;
  root.unmapped_ = unmapped;
  root.fd_ = ::open(fmt::format("{}/{}/root", host.proc, pid).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root.fd_ < 0) root.fd_ = ::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  return root;
}

ProcessRoot::~ProcessRoot() {
  if (fd_ >= 0) close(fd_);
}

FileLook ProcessRoot::look(const std::string& path, i64 uid) const {
  FileLook found;
  struct stat file;
  if (const Descriptor temporary = find_inside(fd_, path + ".tmp", O_NOFOLLOW); temporary.fd >= 0) {
    found.begun = true;
    if (fstat(temporary.fd, &file) == 0 && S_ISREG(file.st_mode) && is_of(file, uid, unmapped_) &&
        file.st_size == 0)
      found.begun_at = unix_time(file.st_mtim);
  }
  const Descriptor at = find_inside(fd_, path, O_NOFOLLOW);
  if (at.fd < 0 || fstat(at.fd, &file) != 0) {
    found.written = found.foreign = at.fd < 0 && errno == ELOOP;  // a link on the way
    return found;
  }
  found.written = true;
  found.foreign = !S_ISREG(file.st_mode) || !is_of(file, uid, unmapped_);
  if (found.foreign) return found;
  found.changed = unix_time(file.st_ctim);
  found.size_bytes = file.st_size;
  found.has_events = has_events(at, file.st_size);
  return found;
}

Result<Descriptor> ProcessRoot::open_file(const std::string& path, i64 uid, i64 size_bytes) const {
  const Descriptor at = find_inside(fd_, path, O_NOFOLLOW);
  if (at.fd < 0 && errno == ELOOP) return fail(Code::denied, "{}: there is a symbolic link in it", path);
  if (at.fd < 0) return fail(Code::not_found, "{}: {}", path, errno_text(errno));
  struct stat file;
  if (fstat(at.fd, &file) != 0) return fail(Code::io, "{}: {}", path, errno_text(errno));
  if (!S_ISREG(file.st_mode)) return fail(Code::denied, "{}: is not a plain file", path);
  if (uid == unmapped_)
    return fail(
        Code::denied,
        "{}: the user {} of the process, and of the file, is one whom this user namespace does not map", path,
        uid);
  if (!is_of(file, uid, unmapped_))
    return fail(Code::denied, "{}: belongs to user {}, not to {}, whose process wrote it", path, file.st_uid,
                uid);
  if (file.st_size != size_bytes)
    return fail(Code::not_found, "{}: has {} bytes; that which was written had {}", path, file.st_size,
                size_bytes);
  Descriptor opened = open_for_reading(at);
  if (opened.fd < 0)
    return fail(errno == EACCES ? Code::denied : Code::io, "{}: {}", path, errno_text(errno));
  return opened;
}

Result<void> ProcessRoot::check_directory(const std::string& directory, i64 uid) const {
  const Descriptor at = find_inside(fd_, directory, O_DIRECTORY);
  if (at.fd < 0 && errno == ELOOP)
    return fail(Code::invalid, "there is a symbolic link in {}; name the directory that it leads to",
                directory);
  if (at.fd < 0)
    return fail(Code::invalid, "the directory {} cannot be opened where the process runs: {}", directory,
                errno_text(errno));
  struct stat folder;
  const bool known = fstat(at.fd, &folder) == 0;
  const bool may = uid == 0 || (folder.st_mode & S_IWOTH) ||
                   (is_of(folder, uid, unmapped_) && (folder.st_mode & S_IWUSR)) ||
                   (folder.st_mode & S_IWGRP);
  if (known && !may) return fail(Code::denied, "the process's user {} may not write to {}", uid, directory);
  return {};
}

std::optional<Disk> ProcessRoot::disk(const std::string& directory) const {
  const Descriptor at = find_inside(fd_, directory, O_DIRECTORY);
  struct statvfs found;
  if (at.fd < 0 || fstatvfs(at.fd, &found) != 0 || found.f_blocks == 0) return {};
  const i64 block = static_cast<i64>(found.f_frsize);
  return Disk{multiply_saturated(static_cast<i64>(found.f_bavail), block),
              multiply_saturated(static_cast<i64>(found.f_blocks), block)};
}

}  // namespace spotter::capture
