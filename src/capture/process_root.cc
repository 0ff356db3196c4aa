#include "capture/process_root.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace spotter::capture {
namespace {

constexpr size_t kHeadBytes = size_t{256} << 10;  // metadata alone is shorter

// -1 with errno where there is no such file.
int open_inside(int root, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<u64>(flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(syscall(SYS_openat2, root, path.c_str(), &how, sizeof how));
}

// Whether a trace that is this short says anything but metadata. Longer ones always do.
bool has_events(int fd, i64 size) {
  if (size > static_cast<i64>(kHeadBytes)) return true;
  std::string text(static_cast<size_t>(size), '\0');
  const ssize_t n = pread(fd, text.data(), text.size(), 0);
  text.resize(static_cast<size_t>(std::max<ssize_t>(n, 0)));
  // Every event of a capture's own is a span; "ph" is written with or without a blank.
  return text.find("\"ph\": \"X\"") != text.npos || text.find("\"ph\":\"X\"") != text.npos;
}

}  // namespace

ProcessRoot ProcessRoot::open(const Host& host, i64 pid) {
  ProcessRoot root;
  root.fd_ = ::open(fmt::format("{}/{}/root", host.proc, pid).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root.fd_ < 0) root.fd_ = ::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  return root;
}

ProcessRoot::~ProcessRoot() {
  if (fd_ >= 0) close(fd_);
}

FileLook ProcessRoot::look(const std::string& path, i64 uid) const {
  FileLook found;
  if (const int fd = open_inside(fd_, path + ".tmp", O_PATH); fd >= 0) {
    found.begun = true;
    close(fd);
  }
  const int fd = open_inside(fd_, path, O_RDONLY);
  if (fd < 0) {
    found.written = found.foreign = errno == ELOOP;  // a link
    return found;
  }
  struct stat file;
  found.written = fstat(fd, &file) == 0;
  found.foreign = !S_ISREG(file.st_mode) || static_cast<i64>(file.st_uid) != uid;
  if (found.written && !found.foreign) {
    found.size_bytes = file.st_size;
    found.changed = Ns{file.st_ctim.tv_sec} * 1'000'000'000 + file.st_ctim.tv_nsec;
    found.has_events = has_events(fd, file.st_size);
  }
  close(fd);
  return found;
}

Result<void> ProcessRoot::check_directory(const std::string& directory, i64 uid) const {
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS;
  const int fd = static_cast<int>(syscall(SYS_openat2, fd_, directory.c_str(), &how, sizeof how));
  if (fd < 0 && errno == ELOOP)
    return fail(Code::invalid, "there is a symbolic link in {}; name the directory that it leads to",
                directory);
  if (fd < 0)
    return fail(Code::not_found, "the directory {} cannot be opened where the process runs: {}", directory,
                errno_text(errno));
  struct stat folder;
  const bool known = fstat(fd, &folder) == 0;
  close(fd);
  const bool may = uid == 0 || (folder.st_mode & S_IWOTH) ||
                   (static_cast<i64>(folder.st_uid) == uid && (folder.st_mode & S_IWUSR)) ||
                   (folder.st_mode & S_IWGRP);
  if (known && !may) return fail(Code::denied, "the process's user {} may not write to {}", uid, directory);
  return {};
}

}  // namespace spotter::capture
