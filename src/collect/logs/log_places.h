// Where the processes of a job write lines: files of the configuration, what their standard output and error
// are, those of torchrun, those of their pod. docs/decisions/0040-log-lines.md says whose are read.
#pragma once
#include <sys/stat.h>

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/system/descriptor.h"
#include "base/system/host.h"
#include "base/types.h"
#include "collect/process/identities.h"

namespace spotter::collect {

// A process that writes.
struct LogWriter {
  i64 pid = 0;
  i64 uid = -1;            // real
  std::string error_file;  // TORCHELASTIC_ERROR_FILE
  Who who;
};

struct FoundLog {
  std::string place;  // the same where it is found again: "fd 17 1", "/logs/a.log"
  std::string shown;  // its path
  Descriptor found;   // for looking at it
  struct stat state{};
  bool is_pod = false;  // its lines are as in pod_line.h
};

// Files that are not read, by why: each once, though many processes have it.
class RefusedLogs {
 public:
  void add(const std::string& why, const std::string& path) {
    std::set<std::string>& paths = files_[why];
    if (paths.size() < kMost) paths.insert(path);
  }
  const std::map<std::string, std::set<std::string>>& files() const { return files_; }

 private:
  static constexpr size_t kMost = 1000;  // of one kind
  std::map<std::string, std::set<std::string>> files_;
};

// Checks a glob of the configuration: a path, absolute or from where the process works, whose names may have
// * and ?. {job} and {user} stand for those of the process.
Result<void> check_log_glob(const std::string& glob);

// Adds those that are not among `found`, best first. Only plain files of the process's own user, and those of
// its pod.
void find_logs(const Host& host, const LogWriter& writer, std::span<const std::string> globs,
               std::vector<FoundLog>& found, RefusedLogs& refused);

}  // namespace spotter::collect
