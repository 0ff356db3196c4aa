#include "base/system/safe_folder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <climits>
#include <deque>
#include <filesystem>

#include "base/system/user_ids.h"
#include "base/text/utf8.h"
#include "base/types.h"

namespace spotter {
namespace {

constexpr int kMostLinks = 40;  // as the kernel allows

std::deque<std::string> names_of(std::string_view path) {
  std::deque<std::string> names;
  while (!path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    if (slash > 0 && path.substr(0, slash) != ".") names.emplace_back(path.substr(0, slash));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return names;
}

Code code_of(int number) {
  if (number == ENOENT || number == ENOTDIR) return Code::not_found;
  return number == EACCES || number == EPERM || number == EROFS ? Code::denied : Code::io;
}

// One that goes from / to a folder, a name at a time.
class Walk {
 public:
  Walk(const std::string& path, std::optional<mode_t> make) : path_(path), make_(make) {}

  Result<Descriptor> go() {
    std::error_code error;
    const std::filesystem::path whole = std::filesystem::absolute(path_, error);
    if (error) return fail(Code::io, "the directory {}: {}", to_printable(path_), error.message());
    rest_ = names_of(whole.native());
    const Result<void> gone = go_on();
    if (!gone && shown_ != path_) return within(gone.error(), "the directory " + to_printable(path_));
    if (!gone) return tl::unexpected(gone.error());
    return std::move(at_);
  }

 private:
  tl::unexpected<Error> failed(const char* what) const {
    const int number = errno;
    return fail(code_of(number), "the directory {} {}: {}", to_printable(shown_), what, errno_text(number));
  }

  Result<void> go_on() {
    TRY(back_to_root());
    while (!rest_.empty()) {
      const std::string name = std::move(rest_.front());
      rest_.pop_front();
      TRY(step(name));
    }
    return check(at_, true);
  }

  Result<void> back_to_root() {
    shown_ = "/";
    at_ = Descriptor(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (at_.fd < 0) return failed("cannot be opened");
    return {};
  }

  Result<void> step(const std::string& name) {
    TRY(check(at_, false));
    if (shown_.back() != '/') shown_ += '/';
    shown_ += name;
    Descriptor next(openat(at_.fd, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (next.fd < 0 && errno == ENOENT && make_) {
      TRY_ASSIGN(at_, made(name));
      return {};
    }
    if (next.fd < 0) return failed("cannot be opened");
    struct stat file;
    if (fstat(next.fd, &file) != 0) return failed("cannot be looked at");
    if (S_ISLNK(file.st_mode)) return follow(next, file);
    if (!S_ISDIR(file.st_mode)) return fail(Code::not_found, "{} is no directory", to_printable(shown_));
    at_ = std::move(next);
    return {};
  }

  Result<Descriptor> made(const std::string& name) const {
    constexpr mode_t kOurs = 0700;  // until it has its mode
    if (mkdirat(at_.fd, name.c_str(), kOurs) != 0) return failed("cannot be made");
    const Descriptor writable(openat(at_.fd, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (writable.fd < 0 || fchmod(writable.fd, *make_) != 0) return failed("cannot be made");
    Descriptor next(openat(writable.fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (next.fd < 0) return failed("cannot be opened");
    return next;
  }

  Result<void> follow(const Descriptor& link, const struct stat& file) {
    if (++links_ > kMostLinks) return fail(Code::io, "the directory {}: too many links", to_printable(path_));
    if (!is_trusted(file.st_uid, false))
      return fail(Code::denied, "{} is a link of user {}, who could let it lead elsewhere",
                  to_printable(shown_), file.st_uid);
    char text[PATH_MAX];
    const ssize_t length = readlinkat(link.fd, "", text, sizeof text);
    if (length < 0) return failed("cannot be read");
    const std::string_view target(text, static_cast<size_t>(length));
    const std::deque<std::string> names = names_of(target);
    rest_.insert(rest_.begin(), names.begin(), names.end());
    if (target.starts_with('/')) return back_to_root();
    shown_.resize(std::max<size_t>(shown_.rfind('/'), 1));
    return {};
  }

  static bool is_trusted(uid_t uid, bool is_last) {
    return uid == 0 || uid == geteuid() || (!is_last && unmapped_uid() == static_cast<i64>(uid));
  }

  Result<void> check(const Descriptor& folder, bool is_last) const {
    struct stat file;
    if (fstat(folder.fd, &file) != 0) return failed("cannot be looked at");
    const std::string shown = to_printable(shown_);
    if (!is_trusted(file.st_uid, is_last))
      return fail(Code::denied,
                  "the directory {} is not safe: it belongs to user {}, who could put something else in the "
                  "place of what is ours; it has to be root's or user {}'s",
                  shown, file.st_uid, geteuid());
    const mode_t others = S_IWOTH | (geteuid() == 0 ? S_IWGRP : 0);
    if ((file.st_mode & others) != 0 && (file.st_mode & S_ISVTX) == 0)
      return fail(
          Code::denied,
          "the directory {} is not safe: others may write there (mode {:o}) and so put something else in "
          "the place of what is ours; `chmod +t` keeps them from that",
          shown, file.st_mode & 07777);
    return {};
  }

  const std::string& path_;
  const std::optional<mode_t> make_;
  std::deque<std::string> rest_;  // names that are still to go
  std::string shown_;             // where we are
  Descriptor at_;
  int links_ = 0;
};

}  // namespace

Result<Descriptor> open_safe_folder(const std::string& path) { return Walk(path, std::nullopt).go(); }

Result<Descriptor> make_safe_folder(const std::string& path, mode_t mode) { return Walk(path, mode).go(); }

Result<void> check_links(const std::string& path) {
  std::error_code ignored;
  std::deque<std::string> rest = names_of(std::filesystem::absolute(path, ignored).native());
  std::string at = "/";  // without links
  for (int links = 0; !rest.empty() && links <= kMostLinks;) {
    const std::string name = std::move(rest.front());
    rest.pop_front();
    if (name == "..") {
      at = std::filesystem::path(at).parent_path();
      continue;
    }
    const std::string next = at.back() == '/' ? at + name : at + "/" + name;
    struct stat folder, file;
    if (lstat(next.c_str(), &file) != 0) return {};
    if (!S_ISLNK(file.st_mode)) {
      at = next;
      continue;
    }
    ++links;
    const bool is_shared = lstat(at.c_str(), &folder) == 0 && (folder.st_mode & (S_IWGRP | S_IWOTH)) != 0;
    if (is_shared && file.st_uid != geteuid() && file.st_uid != 0 && file.st_uid != folder.st_uid)
      return fail(
          Code::denied,
          "{} is a link that user {} put into a directory where others may write; name the file that is meant",
          to_printable(next), file.st_uid);
    char text[PATH_MAX];
    const ssize_t length = readlink(next.c_str(), text, sizeof text);
    if (length < 0) return {};
    const std::string_view target(text, static_cast<size_t>(length));
    const std::deque<std::string> names = names_of(target);
    rest.insert(rest.begin(), names.begin(), names.end());
    if (target.starts_with('/')) at = "/";
  }
  return {};
}

Result<void> set_mode_of_socket(const Descriptor& folder, const std::string& name, mode_t mode) {
  const Descriptor found(openat(folder.fd, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat file;
  if (found.fd < 0 || fstat(found.fd, &file) != 0)
    return fail(Code::io, "the socket {}: {}", to_printable(name), errno_text(errno));
  // A second name may be that of somebody else's socket.
  if (!S_ISSOCK(file.st_mode) || file.st_uid != geteuid() || file.st_nlink != 1)
    return fail(Code::io, "the socket {}: something else is there now", to_printable(name));
  // By what was opened, not by its name.
  if (chmod(fmt::format("/proc/self/fd/{}", found.fd).c_str(), mode) != 0)
    return fail(Code::io, "the mode of the socket {}: {}", to_printable(name), errno_text(errno));
  return {};
}

}  // namespace spotter
