// Finder: the jobs below the roots, looked for again and again. What it learns of a file it keeps while the
// file stays as it is. One thread.
#pragma once
#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "serve/job.h"
#include "serve/series.h"

namespace spotter::serve {

class Finder {
 public:
  explicit Finder(std::vector<std::string> roots) : roots_(std::move(roots)) {}

  // In the order of the roots, then of the folders. `now`: Unix time.
  std::vector<JobPtr> look(Ns now);

  // Reads one of the files whose times have to be known to tell spans from ranks. Whether there was one: then
  // the next look may see other jobs.
  bool learn_times(const std::atomic<bool>& cancelled);

  // look() with the times of all files that have to be known: as many jobs as there are, unless it is
  // cancelled.
  std::vector<JobPtr> look_with_times(Ns now, const std::atomic<bool>& cancelled);

 private:
  struct Known {
    FoundFile file;
    bool is_trace = false, is_whole = false;
    std::optional<i64> rank;
    std::string host;
    bool has_times = false;
    std::optional<Ns> start, end;
    bool is_seen = true;  // by this look
  };
  Known& learn(const std::string& path, const FoundFile& file);
  void add_folder(size_t root, const FoundFolder& folder, Ns now, std::vector<JobPtr>& jobs);
  JobPtr make_job(size_t root, const FoundFolder& folder, const Span& span, bool is_all, Ns now);

  std::vector<std::string> roots_;
  std::map<std::string, Known> known_;  // by path
  std::vector<std::string> to_time_;    // paths
};

}  // namespace spotter::serve
