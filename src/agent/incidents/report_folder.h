// ReportFolder: HTML reports of incidents, the newest of each as a file in a folder of the agent's own. Where
// there is no more room the oldest go. An incident's id has a text of its job in it, which its users chose:
// no id names a file elsewhere, or that of another one. Any thread; all but state() wait for the disk.
#pragma once
#include <atomic>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/types.h"

namespace spotter::agent {

struct ReportFolderState {
  std::string path = {};
  i64 removed = 0;  // to make room
  i64 lost = 0;     // could not be kept
  bool operator==(const ReportFolderState&) const = default;
};

class ReportFolder {
 public:
  struct Limits {
    i64 files = 100, bytes = 100'000'000;
  };
  explicit ReportFolder(std::string path) : ReportFolder(std::move(path), Limits()) {}
  ReportFolder(std::string path, Limits limits) : path_(std::move(path)), limits_(limits) {}

  // Beside the file that incidents are remembered in.
  static std::string beside(const std::string& incidents_file);

  // In place of an older one of that incident. Errors: invalid (too long an id), denied, io.
  Result<void> keep(const std::string& id, std::string_view page);
  // One that could not even be handed to keep(), and why.
  void lose(const std::string& id, const Error& why);
  // Errors: not_found (it was removed), io.
  Result<std::string> read(const std::string& id) const;

  ReportFolderState state() const { return {path_, removed_, lost_}; }
  const Limits& limits() const { return limits_; }

 private:
  Result<std::string> file_of(const std::string& id) const;
  Result<void> write(const std::string& id, std::string_view page);
  void make_room(const std::string& newest);

  const std::string path_;
  const Limits limits_;
  std::mutex mutex_;  // of the folder
  std::atomic<i64> removed_ = 0, lost_ = 0;
};

}  // namespace spotter::agent
