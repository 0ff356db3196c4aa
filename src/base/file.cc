#include "base/file.h"

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

namespace spotter {
namespace {

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() {
    if (fd_ >= 0) close(fd_);
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }
  // Network file systems report a failed write only here.
  bool close_well() { return close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

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

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

// A device or a pipe takes what comes; there is nothing to replace.
Result<void> write_in_place(const std::string& path, std::string_view bytes) {
  Fd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (fd.get() < 0) return errno_error(path, "cannot open");
  if (!write_all(fd.get(), bytes) || !fd.close_well()) return errno_error(path, "cannot write");
  return {};
}

// `shown`: what the errors call it. `like`: whose mode and owner it gets.
Result<void> write_by_rename(const std::string& target, const std::string& shown, std::string_view bytes,
                             const struct stat* like) {
  const std::string folder = folder_of(target), temporary = temporary_name(folder);
  Fd fd(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (fd.get() < 0) return errno_error(shown, "cannot create");
  if (like) {
    // Whoever may not give the file to its owner keeps it.
    if (fchown(fd.get(), like->st_uid, like->st_gid) == 0 || like->st_uid == geteuid())
      fchmod(fd.get(), like->st_mode & 07777);
  }
  if (write_all(fd.get(), bytes) && fsync(fd.get()) == 0 && fd.close_well() &&
      std::rename(temporary.c_str(), target.c_str()) == 0) {
    const Fd dir(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (dir.get() >= 0) fsync(dir.get());
    return {};
  }
  auto error = errno_error(shown, "cannot write");
  unlink(temporary.c_str());
  return error;
}

}  // namespace

Result<std::string> read_small_file(const std::string& path, size_t max_bytes) {
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) return errno_error(path, "cannot open");
  std::string text;
  size_t used = 0;
  while (true) {
    text.resize(std::max(size_t{4096}, used * 2));
    const ssize_t n = read(fd.get(), text.data() + used, text.size() - used);
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

Result<void> write_file_atomically(const std::string& path, std::string_view bytes) {
  struct stat old;
  const bool exists = stat(path.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) return write_in_place(path, bytes);
  const std::unique_ptr<char, void (*)(void*)> real(exists ? realpath(path.c_str(), nullptr) : nullptr,
                                                    std::free);
  return write_by_rename(real ? real.get() : path, path, bytes, exists ? &old : nullptr);
}

Result<void> replace_file_atomically(const std::string& path, std::string_view bytes) {
  return write_by_rename(path, path, bytes, nullptr);
}

}  // namespace spotter
