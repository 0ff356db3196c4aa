#include "base/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>

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

// A name in the directory of `path` that no other process or thread takes.
std::string temporary_name(const std::string& path) {
  static std::atomic<u64> counter{0};
  return fmt::format("{}.{}-{}.tmp", path, getpid(), counter.fetch_add(1));
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

Result<void> write_file_atomically(const std::string& path, std::string_view bytes) {
  const std::string temporary = temporary_name(path);
  Fd fd(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (fd.get() < 0) return errno_error(path, "cannot create");
  if (write_all(fd.get(), bytes) && fsync(fd.get()) == 0 && fd.close_well() &&
      std::rename(temporary.c_str(), path.c_str()) == 0)
    return {};
  auto error = errno_error(path, "cannot write");
  unlink(temporary.c_str());
  return error;
}

}  // namespace spotter
