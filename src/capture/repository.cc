#include "capture/repository.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <iterator>
#include <string_view>

#include "base/source_revision.h"
#include "base/system/descriptor.h"
#include "base/system/file_inside.h"
#include "base/text/words.h"

namespace spotter::capture {
namespace {

constexpr size_t kMostHead = 4096, kMostConfig = size_t{64} << 10, kMostRefs = size_t{1} << 20;
constexpr int kMostFolders = 64;  // from the working directory up, and of a name

std::string link_text(const std::string& path) {
  std::array<char, PATH_MAX> text{};
  const ssize_t n = ::readlink(path.c_str(), text.data(), text.size());
  return n > 0 && n < PATH_MAX ? std::string(text.data(), static_cast<size_t>(n)) : std::string();
}

bool is_same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

std::string joined(const std::string& folder, std::string_view name) {
  return fmt::format("{}{}{}", folder, folder.ends_with('/') ? "" : "/", name);
}

// Files below the root of a process, as its user may reach them. Whose groups he is in is not known: what
// only a group may do, he may not.
class Files {
 public:
  Files(const Host& host, i64 pid, i64 uid, std::optional<i64> unmapped)
      : process_(fmt::format("{}/{}", host.proc, pid)),
        root_(::open((process_ + "/root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)),
        uid_(uid),
        unmapped_(unmapped) {}

  // As the process calls it; empty: that is not known, or not below its root.
  std::string working_directory() const {
    struct stat folder, at;
    if (root_.fd < 0 || ::stat((process_ + "/cwd").c_str(), &folder) != 0) return {};
    std::string path = link_text(process_ + "/cwd");
    // Of a process in another root of these mounts the text begins at this one's.
    const std::string root = link_text(process_ + "/root");
    if (root.size() > 1 && path.starts_with(root)) path.erase(0, root.size());
    if (path.empty()) path = "/";
    const Descriptor found = find_inside(root_.fd, path, O_DIRECTORY);
    const bool is_it = path[0] == '/' && found.fd >= 0 && ::fstat(found.fd, &at) == 0 && is_same(at, folder);
    return is_it ? path : std::string();
  }

  // Whatever it is; what cannot be told is there.
  bool is_there(const std::string& path) const {
    return find_inside(root_.fd, path, O_NOFOLLOW).fd >= 0 || errno != ENOENT;
  }

  bool may_search(const std::string& folder) const {
    struct stat at;
    const Descriptor found = find_inside(root_.fd, folder, O_DIRECTORY | O_NOFOLLOW);
    return found.fd >= 0 && ::fstat(found.fd, &at) == 0 && may(at, S_IXUSR, S_IXOTH);
  }

  // A whole plain file of text below a folder that may be searched, so many bytes at most.
  std::optional<std::string> read(std::string folder, std::string_view path, size_t most) const {
    for (size_t slash; (slash = path.find('/')) != path.npos; path.remove_prefix(slash + 1)) {
      folder = joined(folder, path.substr(0, slash));
      if (!may_search(folder)) return std::nullopt;
    }
    struct stat at;
    const Descriptor found = find_inside(root_.fd, joined(folder, path), O_NOFOLLOW);
    if (found.fd < 0 || ::fstat(found.fd, &at) != 0 || !S_ISREG(at.st_mode) || !may(at, S_IRUSR, S_IROTH) ||
        at.st_size > static_cast<off_t>(most))
      return std::nullopt;
    const Descriptor file = open_for_reading(found);
    if (file.fd < 0) return std::nullopt;
    std::string text(static_cast<size_t>(at.st_size), '\0');
    const ssize_t n = ::pread(file.fd, text.data(), text.size(), 0);
    if (n != at.st_size || text.find('\0') != text.npos) return std::nullopt;
    return text;
  }

 private:
  bool may(const struct stat& at, mode_t of_owner, mode_t of_all) const {
    if (uid_ == 0) return true;
    const bool is_owner = static_cast<i64>(at.st_uid) == uid_ && uid_ != unmapped_;
    return (at.st_mode & (is_owner ? of_owner : of_all)) != 0;
  }

  const std::string process_;
  const Descriptor root_;
  const i64 uid_;
  const std::optional<i64> unmapped_;
};

// A name of Git's that is a path below .git, too.
bool is_ref(std::string_view name) {
  const auto is_of_name = [](char c) {
    return c > ' ' && c < 127 && std::string_view("\\~^:?*[").find(c) == std::string_view::npos;
  };
  return name.starts_with("refs/") && !name.ends_with('/') && name.find("..") == name.npos &&
         name.find("//") == name.npos && name.find("/.") == name.npos &&
         std::ranges::all_of(name, is_of_name);
}

std::string packed(std::string_view refs, std::string_view name) {
  while (!refs.empty()) {
    const std::string_view line = trimmed(next_line(refs));
    const size_t blank = line.find(' ');
    if (blank != line.npos && line.substr(blank + 1) == name && is_commit(line.substr(0, blank)))
      return std::string(line.substr(0, blank));
  }
  return {};
}

// Where Git keeps what belongs to a checkout: its HEAD, and what all checkouts of the repository have.
struct Folders {
  std::string own, common;
};

// Of a text that names a folder, which the process's user may reach. Empty: it is none.
std::string folder_in(const Files& files, const std::string& folder, std::string_view text) {
  const std::string_view name = trimmed(text);
  if (name.empty()) return {};
  const std::filesystem::path path = (std::filesystem::path(folder) / name).lexically_normal();
  if (std::distance(path.begin(), path.end()) > kMostFolders) return {};
  std::filesystem::path at;
  for (const std::filesystem::path& part : path) {
    at /= part;
    if (!part.empty() && !files.may_search(at.string())) return {};
  }
  return path.has_filename() ? path.string() : path.parent_path().string();
}

// Of a further worktree or a submodule `.git` is a file: "gitdir: FOLDER".
std::optional<Folders> folders_of(const Files& files, const std::string& folder) {
  constexpr std::string_view kElsewhere = "gitdir:";
  const std::string git = joined(folder, ".git");
  if (files.may_search(git)) return Folders{git, git};
  const std::optional<std::string> text = files.read(folder, ".git", kMostHead);
  if (!text || !text->starts_with(kElsewhere)) return {};
  const std::string own = folder_in(files, folder, std::string_view(*text).substr(kElsewhere.size()));
  if (own.empty()) return {};
  const auto shared = files.read(own, "commondir", kMostHead);
  const std::string common = shared ? folder_in(files, own, *shared) : own;
  if (common.empty()) return {};
  return Folders{own, common};
}

// What HEAD names may be a commit alone: a ref of a ref is nothing that Git makes of a branch.
std::string commit_in(const Files& files, const Folders& folders) {
  constexpr std::string_view kRef = "ref:";
  const std::optional<std::string> head = files.read(folders.own, "HEAD", kMostHead);
  if (!head) return {};
  const std::string& git = folders.common;
  std::string_view text = trimmed(*head);
  if (!text.starts_with(kRef)) return is_commit(text) ? std::string(text) : std::string();
  text = trimmed(text.substr(kRef.size()));
  if (!is_ref(text)) return {};
  if (const auto loose = files.read(git, text, kMostHead))
    return is_commit(trimmed(*loose)) ? std::string(trimmed(*loose)) : std::string();
  const auto refs = files.read(git, "packed-refs", kMostRefs);
  return refs ? packed(*refs, text) : std::string();
}

// The first url of [remote "origin"]. Values with quotes, escapes or comments are none.
std::string origin_in(std::string_view config) {
  bool is_origin = false;
  while (!config.empty()) {
    const std::string_view line = trimmed(next_line(config));
    if (line.starts_with('[')) is_origin = line == "[remote \"origin\"]";
    const size_t equals = line.find('=');
    if (is_origin && equals != line.npos && trimmed(line.substr(0, equals)) == "url")
      return std::string(trimmed(line.substr(equals + 1)));
  }
  return {};
}

}  // namespace

std::optional<Repository> repository_of(const Host& host, i64 pid, i64 uid, std::optional<i64> unmapped) {
  const Files files(host, pid, uid, unmapped);
  std::string folder = files.working_directory();
  for (int i = 0; i < kMostFolders && !folder.empty() && files.may_search(folder); ++i) {
    const std::string git = joined(folder, ".git");
    if (files.is_there(git)) {
      const auto folders = folders_of(files, folder);
      if (!folders) return std::nullopt;
      const std::string commit = commit_in(files, *folders);
      const auto config = files.read(folders->common, "config", kMostConfig);
      const std::string page = config ? web_page_of(origin_in(*config)) : std::string();
      if (commit.empty() || page.empty()) return std::nullopt;
      return Repository{fmt::format("{}@{}", page, commit), folder};
    }
    if (folder == "/") break;
    folder = folder.substr(0, std::max<size_t>(folder.rfind('/'), 1));
  }
  return std::nullopt;
}

}  // namespace spotter::capture
