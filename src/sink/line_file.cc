#include "sink/line_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>

#include "base/system/host.h"

namespace spotter::sink {
namespace {

constexpr int kLookUpMs = 100;  // for an interruption

}  // namespace

tl::unexpected<Error> LineFile::error(const char* what) const {
  return fail(Code::io, "{}: {}: {}", shown(), what, errno_text(errno));
}

Result<void> LineFile::write(std::string_view lines) {
  if (file_.fd < 0 || is_moved()) TRY(open());
  if (!is_regular_) return stream(lines);
  struct stat now{};
  if (fstat(file_.fd, &now) != 0) return error("cannot be looked at");
  if (now.st_size > 0 && now.st_size + static_cast<i64>(lines.size()) > options_.most_bytes) TRY(rotate());
  return append(lines);
}

Result<void> LineFile::open() {
  is_half_ = false;
  // Not blocking: a pipe that nobody reads is an error then.
  constexpr int kHow = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  file_ = Descriptor(options_.path == "-" ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                                          : ::open(options_.path.c_str(), kHow, options_.mode));
  struct stat now{};
  if (file_.fd < 0 || fstat(file_.fd, &now) != 0) return error("cannot be opened");
  is_regular_ = S_ISREG(now.st_mode) && options_.path != "-";
  if (!is_regular_ || now.st_size == 0) return {};
  const Descriptor reader(::open(options_.path.c_str(), O_RDONLY | O_CLOEXEC));
  char last = '\n';
  if (pread(reader.fd, &last, 1, now.st_size - 1) == 1) is_half_ = last != '\n';
  return {};
}

bool LineFile::is_moved() const {
  if (!is_regular_) return false;
  struct stat ours{}, there{};
  return stat(options_.path.c_str(), &there) != 0 || fstat(file_.fd, &ours) != 0 ||
         ours.st_ino != there.st_ino || ours.st_dev != there.st_dev;
}

Result<void> LineFile::rotate() {
  const auto name = [&](i64 number) {
    return number == 0 ? options_.path : fmt::format("{}.{}", options_.path, number);
  };
  if (options_.old_files == 0) {
    if (ftruncate(file_.fd, 0) != 0) return error("cannot be emptied");
    return {};
  }
  for (i64 number = options_.old_files - 1; number >= 0; --number) {
    if (std::rename(name(number).c_str(), name(number + 1).c_str()) != 0 && errno != ENOENT)
      return error("cannot be renamed");
  }
  return open();
}

Result<void> LineFile::append(std::string_view lines) {
  struct stat before{};
  if (fstat(file_.fd, &before) != 0) return error("cannot be looked at");
  std::string mended;
  if (is_half_) lines = mended = "\n" + std::string(lines);
  std::string_view left = lines;
  while (!left.empty()) {
    const ssize_t n = ::write(file_.fd, left.data(), left.size());
    if (n < 0 && errno == EINTR) continue;
    if (n > 0) {
      left.remove_prefix(static_cast<size_t>(n));
      continue;
    }
    const auto failed = error("cannot be written");
    if (left.size() < lines.size() && ftruncate(file_.fd, before.st_size) != 0) is_half_ = true;
    return failed;
  }
  is_half_ = false;
  return {};
}

Result<void> LineFile::stream(std::string_view lines) {
  std::string_view rest = rest_;
  const auto rested = push(rest);
  rest_ = file_.fd < 0 ? std::string() : std::string(rest);
  TRY(rested);
  const std::string_view all = lines;
  const auto pushed = push(lines);
  if (pushed) return {};
  const bool is_between = lines.size() == all.size() || all[all.size() - lines.size() - 1] == '\n';
  // Whoever opens a pipe next has not seen the beginning of the line.
  if (!is_between && file_.fd >= 0) rest_ = std::string(lines.substr(0, lines.find('\n') + 1));
  return pushed;
}

// In pieces that a pipe takes whole where it takes anything: standard output may be one that blocks.
Result<void> LineFile::push(std::string_view& text) {
  Ns end = steady_clock_now() + options_.patience;
  while (!text.empty()) {
    if (is_interrupted_) return fail(Code::io, "{}: interrupted", shown());
    if (steady_clock_now() > end) return fail(Code::io, "{}: nobody reads it", shown());
    pollfd look{file_.fd, POLLOUT, 0};
    if (poll(&look, 1, kLookUpMs) == 0) continue;
    const ssize_t n = ::write(file_.fd, text.data(), std::min<size_t>(text.size(), PIPE_BUF));
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n < 0) {
      const bool has_left = errno == EPIPE;
      const auto failed = error("cannot be written");
      if (has_left) file_ = Descriptor();
      return failed;
    }
    text.remove_prefix(static_cast<size_t>(n));
    end = steady_clock_now() + options_.patience;
  }
  return {};
}

}  // namespace spotter::sink
