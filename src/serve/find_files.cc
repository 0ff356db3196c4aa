#include "serve/find_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "base/system/descriptor.h"
#include "base/system/file.h"
#include "base/time.h"
#include "read/endings.h"
#include "read/flight_recorder/flight_recorder.h"

namespace spotter::serve {
namespace {

constexpr int kMostDepth = 64;
constexpr std::string_view kTruth = "truth.json";  // of a simulation, and no trace: as read/open.cc has it

FoundFile found(std::string name, const struct stat& info) {
  return {std::move(name), info.st_size, info.st_mtim.tv_sec * kSecond + info.st_mtim.tv_nsec, info.st_dev,
          info.st_ino};
}

bool may_be_ours(const std::string& name) {
  return name != kTruth && (read::ending_of(name) || read::rank_of_flight_record(name));
}

// `descriptor`: of the folder; it is closed.
void walk(int descriptor, FoundFolder folder, int depth, std::vector<FoundFolder>& all) {
  DIR* const dir = ::fdopendir(descriptor);
  if (!dir) {
    ::close(descriptor);
    return;
  }
  std::vector<std::string> folders;
  while (const dirent* entry = ::readdir(dir)) {
    std::string name = entry->d_name;
    if (name.front() == '.') continue;
    const bool is_known = entry->d_type != DT_UNKNOWN;
    if (is_known && entry->d_type != DT_DIR && entry->d_type != DT_REG) continue;
    if (entry->d_type == DT_REG && !may_be_ours(name)) continue;
    struct stat info;
    if (entry->d_type != DT_DIR && ::fstatat(descriptor, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    if (entry->d_type == DT_DIR || S_ISDIR(info.st_mode))
      folders.push_back(std::move(name));
    else if (S_ISREG(info.st_mode) && may_be_ours(name))
      folder.files.push_back(found(std::move(name), info));
  }
  std::ranges::sort(folders);
  std::ranges::sort(folder.files, {}, &FoundFile::name);
  const std::string before = folder.path + (folder.path.ends_with('/') ? "" : "/");
  const std::string below = folder.below + (folder.below.empty() ? "" : "/");
  if (!folder.files.empty()) all.push_back(std::move(folder));
  for (const std::string& name : folders) {
    if (depth == kMostDepth) break;
    const int inside = ::openat(descriptor, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inside >= 0) walk(inside, {before + name, below + name, {}, false}, depth + 1, all);
  }
  ::closedir(dir);
}

}  // namespace

std::vector<FoundFolder> find_folders(const std::string& root) {
  std::vector<FoundFolder> all;
  struct stat info;
  if (::stat(root.c_str(), &info) != 0) return all;
  if (S_ISREG(info.st_mode)) {
    all.push_back({root, "", {found(std::string(base_name(root)), info)}, true});
  } else if (S_ISDIR(info.st_mode)) {
    const int descriptor = ::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor >= 0) walk(descriptor, {root, "", {}, false}, 0, all);
  }
  return all;
}

Result<int> open_found(const std::string& path, const FoundFile& file) {
  Descriptor opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (opened.fd < 0) return fail(Code::io, "{}: {}", path, errno_text(errno));
  struct stat info;
  if (::fstat(opened.fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_dev != file.device ||
      info.st_ino != file.inode)
    return fail(Code::io, "{}: is another file than the one that was found; ask again in a second", path);
  return std::exchange(opened.fd, -1);
}

}  // namespace spotter::serve
