#include "collect/kernel_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/text/words.h"

namespace spotter::collect {
namespace {

constexpr size_t kFirst = 4096, kMost = size_t{16} << 20;

Code code_of_errno(int number) {
  return number == ENOENT || number == ENODEV || number == ESRCH ? Code::not_found
         : number == EACCES || number == EPERM                   ? Code::denied
                                                                 : Code::io;
}

}  // namespace

// The kernel makes the text when it is asked for the first byte, so that a buffer that is too small means to
// ask again.
Result<size_t> KernelFile::read_open() {
  if (text_.empty()) text_.resize(kFirst);
  for (size_t have = 0;;) {
    const ssize_t n = pread(file_.fd, text_.data() + have, text_.size() - have, static_cast<off_t>(have));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(code_of_errno(errno), "{} cannot be read: {}", path_, errno_text(errno));
    if (n == 0) return have;
    have += static_cast<size_t>(n);
    if (have < text_.size()) continue;
    if (have >= kMost) return fail(Code::invalid, "{} is longer than {} MiB", path_, kMost >> 20);
    text_.resize(2 * have);
  }
}

Result<std::string_view> KernelFile::read() {
  if (file_.fd >= 0) {
    if (const Result<size_t> n = read_open()) return std::string_view(text_).substr(0, *n);
  }
  file_ = Descriptor(open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file_.fd < 0) return fail(code_of_errno(errno), "{} cannot be opened: {}", path_, errno_text(errno));
  TRY_ASSIGN(const size_t n, read_open());
  return std::string_view(text_).substr(0, n);
}

std::optional<i64> KernelFile::read_number() {
  const Result<std::string_view> text = read();
  return text ? to_integer(trimmed(*text)) : std::nullopt;
}

}  // namespace spotter::collect
