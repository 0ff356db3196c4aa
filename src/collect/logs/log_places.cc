#include "collect/logs/log_places.h"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include "base/system/file.h"
#include "base/system/file_inside.h"
#include "base/text/glob.h"
#include "base/text/number.h"
#include "base/text/utf8.h"

namespace spotter::collect {
namespace {

constexpr size_t kMostMatches = 64;  // of a glob, at each of its names
constexpr size_t kMostNames = 4096;  // of a folder
constexpr size_t kMostShown = 512;

std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    if (end > 0) parts.push_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return parts;
}

class Finder {
 public:
  Finder(const Host& host, const LogWriter& writer, std::vector<FoundLog>& logs, RefusedLogs& refused)
      : host_(host),
        writer_(writer),
        logs_(logs),
        refused_(refused),
        folder_(fmt::format("{}/{}", host.proc, writer.pid)) {}

  void of_glob(std::string glob) {
    for (const auto& [word, value] :
         {std::pair("{job}", &writer_.who.job), std::pair("{user}", &writer_.who.user)}) {
      if (glob.find(word) == glob.npos) continue;
      // A name of the job's own making is to name one folder or file, and no others than its.
      if (value->empty() || value->find_first_of("/*?") != value->npos || value->starts_with('.')) return;
      for (size_t at = glob.find(word); at != glob.npos; at = glob.find(word, at + value->size()))
        glob.replace(at, std::string_view(word).size(), *value);
    }
    if (!glob.starts_with('/')) {
      const std::string working = link_of(folder_ + "/cwd");
      if (working.empty()) return;
      glob = working + "/" + glob;
    }
    const Descriptor root = open_folder(folder_ + "/root");
    for (const std::string& path : matches(root, glob)) of_path(root, path, false);
  }

  void of_output(int fd) {
    const std::string link = fmt::format("{}/fd/{}", folder_, fd);
    // Mostly it is a file that another process of the job has, too, or a pipe.
    struct stat state{};
    if (::stat(link.c_str(), &state) == 0 && (!S_ISREG(state.st_mode) || is_found(state))) return;
    FoundLog log{.place = fmt::format("fd {} {}", writer_.pid, fd),
                 .shown = link_of(link),
                 .found = Descriptor(),
                 .state = {}};
    if (!log.shown.starts_with('/')) return;  // a pipe
    log.found = Descriptor(::open(link.c_str(), O_PATH | O_CLOEXEC));
    take(std::move(log));
  }

  // torchrun's --redirects and --tee: beside error.json.
  void of_torchrun() {
    const size_t end = writer_.error_file.rfind('/');
    if (end == std::string::npos || !writer_.error_file.starts_with('/')) return;
    const Descriptor root = open_folder(folder_ + "/root");
    for (const char* name : {"/stdout.log", "/stderr.log"}) {
      const std::string path = writer_.error_file.substr(0, end) + name;
      if (exists(root, path)) of_path(root, path, false);
    }
  }

  // The kernel says in which pod it is. Groups below /kube... are the kubelet's alone, and their names its.
  void of_pod() {
    const std::string uid = pod_uid_of(writer_.who.cgroup);
    if (uid.empty() || !writer_.who.cgroup.starts_with("/kube") || writer_.who.container_name.empty()) return;
    const std::string folder = host_.root + "/var/log/pods";
    for (const std::string& pod : names_in(folder)) {
      if (!pod.ends_with("_" + uid)) continue;
      const std::string container = folder + "/" + pod + "/" + writer_.who.container_name;
      std::optional<i64> newest;
      for (const std::string& name : names_in(container)) {
        if (!name.ends_with(".log")) continue;
        const auto number = number_in<i64>(std::string_view(name).substr(0, name.size() - 4));
        if (number && *number >= newest.value_or(0)) newest = number;
      }
      if (newest) of_path(open_folder(container), fmt::format("{}.log", *newest), true, container + "/");
    }
  }

 private:
  bool is_found(const struct stat& state) const {
    return std::ranges::any_of(logs_, [&](const FoundLog& log) {
      return log.state.st_dev == state.st_dev && log.state.st_ino == state.st_ino;
    });
  }
  static std::string link_of(const std::string& path) {
    std::array<char, 4096> target;
    const ssize_t n = readlink(path.c_str(), target.data(), target.size());
    return n < 0 ? std::string() : std::string(target.data(), static_cast<size_t>(n));
  }
  static Descriptor open_folder(const std::string& path) {
    return Descriptor(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  static bool exists(const Descriptor& root, const std::string& path) {
    return find_inside(root.fd, path).fd >= 0 || errno != ENOENT;
  }

  // A job may have put any number there.
  std::vector<std::string> some_names_in(const Descriptor& folder, const std::string& shown) {
    std::vector<std::string> names;
    Descriptor open = open_for_reading(folder);
    DIR* const listing = open.fd < 0 ? nullptr : fdopendir(open.fd);
    if (!listing) return names;
    open.fd = -1;  // it is the listing's
    while (const dirent* entry = readdir(listing)) {
      if (names.size() == kMostNames) {
        refused_.add("their folder has too many names", shown);
        break;
      }
      names.emplace_back(entry->d_name);
    }
    closedir(listing);
    return names;
  }

  // Name by name; only folders that are listed are opened for reading.
  std::vector<std::string> matches(const Descriptor& root, const std::string& glob) {
    std::vector<std::string> paths = {""};
    for (const std::string_view part : parts_of(glob)) {
      std::vector<std::string> next;
      for (const std::string& path : paths) {
        if (part.find_first_of("*?") == part.npos) {
          next.push_back(fmt::format("{}/{}", path, part));
          continue;
        }
        const Descriptor folder = find_inside(root.fd, path.empty() ? "/" : path, O_DIRECTORY);
        if (folder.fd < 0) continue;
        std::vector<std::string> names = some_names_in(folder, path);
        std::ranges::sort(names, std::greater());  // of names with a number or a date the newest come first
        for (const std::string& name : names)
          if (next.size() < kMostMatches && !name.starts_with('.') && matches_glob(part, name))
            next.push_back(fmt::format("{}/{}", path, name));
      }
      paths = std::move(next);
    }
    return paths;
  }

  void of_path(const Descriptor& root, const std::string& path, bool is_pod, const std::string& above = {}) {
    FoundLog log{
        .place = above + path, .shown = above + path, .found = Descriptor(), .state = {}, .is_pod = is_pod};
    log.found = find_inside(root.fd, path);
    if (log.found.fd < 0 && (errno == ENOENT || errno == ENOTDIR)) return;
    take(std::move(log));
  }

  void take(FoundLog log) {
    if (log.found.fd < 0) {
      refused_.add(errno == ELOOP ? "there is a link in their path" : errno_text(errno), log.shown);
      return;
    }
    if (fstat(log.found.fd, &log.state) != 0 || !S_ISREG(log.state.st_mode)) return;
    if (!log.is_pod && log.state.st_uid != static_cast<uid_t>(writer_.uid)) {
      refused_.add("they are not the job's own user's", log.shown);
      return;
    }
    if (is_found(log.state)) return;
    log.shown = to_printable(log.shown.substr(0, kMostShown));
    logs_.push_back(std::move(log));
  }

  const Host& host_;
  const LogWriter& writer_;
  std::vector<FoundLog>& logs_;
  RefusedLogs& refused_;
  const std::string folder_;
};

}  // namespace

Result<void> check_log_glob(const std::string& glob) {
  constexpr size_t kLongest = 1024;
  if (glob.empty() || glob.size() > kLongest)
    return fail(Code::invalid, "a path of log files has 1 to {} characters", kLongest);
  for (const std::string_view part : parts_of(glob)) {
    if (part == "..") return fail(Code::invalid, "\"{}\" has a \"..\"", to_printable(glob));
    if (part == "**") return fail(Code::invalid, "\"{}\": ** is not known", to_printable(glob));
  }
  return {};
}

void find_logs(const Host& host, const LogWriter& writer, std::span<const std::string> globs,
               std::vector<FoundLog>& found, RefusedLogs& refused) {
  Finder finder(host, writer, found, refused);
  if (!writer.who.is_helper)
    for (const std::string& glob : globs) finder.of_glob(glob);
  for (const int fd : {1, 2}) finder.of_output(fd);
  finder.of_torchrun();
  finder.of_pod();
}

}  // namespace spotter::collect
