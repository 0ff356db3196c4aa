#include "base/system/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/system/safe_folder.h"

namespace spotter {
namespace {

tl::unexpected<Error> errno_error(const std::string& path, const char* what) {
  const int number = errno;
  Code code = Code::io;
  if (number == ENOENT || number == ENOTDIR) code = Code::not_found;
  if (number == EACCES || number == EPERM || number == EROFS) code = Code::denied;
  return fail(code, "{}: {}: {}", path, what, errno_text(number));
}

// The folder of a path, with the slash.
std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? "./" : path.substr(0, slash + 1);
}

// A name in this folder that no other process or thread takes.
std::string temporary_name(const std::string& folder) {
  static std::atomic<u64> counter{0};
  return fmt::format("{}.spotter-{}-{}.tmp", folder, getpid(), counter.fetch_add(1));
}

std::string name_of_open(int fd) { return fmt::format("/proc/self/fd/{}", fd); }

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

}  // namespace

Result<std::string> read_small_file(const std::string& path, size_t max_bytes) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.fd < 0) return errno_error(path, "cannot open");
  std::string text;
  size_t used = 0;
  while (true) {
    text.resize(std::max(size_t{4096}, used * 2));
    const ssize_t n = read(file.fd, text.data() + used, text.size() - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_error(path, "cannot read");
    used += static_cast<size_t>(n);
    if (used > max_bytes) return fail(Code::invalid, "{}: longer than {} bytes", path, max_bytes);
    if (n == 0) break;
  }
  text.resize(used);
  return text;
}

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(directory.c_str()), closedir);
  while (const dirent* entry = folder ? readdir(folder.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

Result<AtomicFile> AtomicFile::create(const std::string& path) {
  TRY(check_links(path));
  struct stat old;
  const bool exists = stat(path.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) {
    // A device or a pipe takes what comes; there is nothing to replace.
    AtomicFile file(path, "");
    file.file_ = Descriptor(open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
    if (file.file_.fd < 0) return errno_error(path, "cannot open");
    return file;
  }
  const std::unique_ptr<char, void (*)(void*)> real(exists ? realpath(path.c_str(), nullptr) : nullptr,
                                                    std::free);
  AtomicFile file(path, real ? real.get() : path);
  TRY(file.open_temporary());
  const int fd = file.file_.fd;
  // Whoever may not give the file to its owner keeps it.
  if (exists && (fchown(fd, old.st_uid, old.st_gid) == 0 || old.st_uid == geteuid()))
    fchmod(fd, old.st_mode & 07777);
  return file;
}

Result<void> AtomicFile::open_temporary(mode_t mode) {
  const std::string folder = folder_of(target_);
  file_ = Descriptor(open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode));
  if (file_.fd >= 0 && access(name_of_open(file_.fd).c_str(), F_OK) == 0) return {};
  std::string name = temporary_name(folder);
  file_ = Descriptor(open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (file_.fd < 0) return errno_error(shown_, "cannot create");
  temporary_ = std::move(name);
  return {};
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

Result<void> AtomicFile::write(std::string_view bytes) {
  if (!write_all(file_.fd, bytes)) return errno_error(shown_, "cannot write");
  return {};
}

Result<void> AtomicFile::commit() {
  const bool in_place = target_.empty();
  if (!in_place && fsync(file_.fd) != 0) return errno_error(shown_, "cannot write");
  if (!in_place && temporary_.empty()) {
    std::string name = temporary_name(folder_of(target_));
    if (linkat(AT_FDCWD, name_of_open(file_.fd).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0)
      return errno_error(shown_, "cannot write");
    temporary_ = std::move(name);
  }
  // Network file systems report a failed write only here.
  if (close(std::exchange(file_.fd, -1)) != 0) return errno_error(shown_, "cannot write");
  if (in_place) return {};
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) return errno_error(shown_, "cannot write");
  temporary_.clear();
  const Descriptor folder(open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.fd >= 0) fsync(folder.fd);
  return {};
}

Result<void> write_file_atomically(const std::string& path, std::string_view bytes) {
  TRY_ASSIGN(AtomicFile file, AtomicFile::create(path));
  TRY(file.write(bytes));
  return file.commit();
}

Result<void> replace_file_atomically(const std::string& path, std::string_view bytes, mode_t mode) {
  AtomicFile file(path, path);
  TRY(file.open_temporary(mode));
  TRY(file.write(bytes));
  return file.commit();
}

}  // namespace spotter
