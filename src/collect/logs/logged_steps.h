// LoggedSteps: what the logs of jobs tell of their steps: from who reads them (job_log) to who tells of steps
// (step). Two collectors, since a log may be on a file system that hangs, and steps that are seen by probes
// are told all the same. Any thread.
#pragma once
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/time.h"
#include "respond/steps/step_loop.h"

namespace spotter::collect {

struct LoggedSteps {
  std::string job = {}, user = {};
  i64 pid = 0;                                // one of the job's processes
  std::string source = {};                    // "log:megatron"
  std::vector<respond::LoopStep> ended = {};  // since they were last taken
  Ns last = 0;                                // Unix time of the newest line
  i64 steps = 0;                              // since the log was first read
};

class LoggedStepsBoard {
 public:
  // Of all jobs that tell of steps now; those that are not among them tell no more. It holds until then, by
  // the steady clock.
  void put(std::vector<LoggedSteps> jobs, Ns until) {
    std::lock_guard lock(mutex_);
    until_ = until;
    std::map<Key, LoggedSteps> kept;
    for (LoggedSteps& job : jobs) {
      const Key key{job.job, job.user, job.pid};
      if (const auto before = jobs_.find(key); before != jobs_.end())
        job.ended.insert(job.ended.begin(), before->second.ended.begin(), before->second.ended.end());
      if (job.ended.size() > kMostEnded) job.ended.erase(job.ended.begin(), job.ended.end() - kMostEnded);
      kept.insert_or_assign(key, std::move(job));
    }
    jobs_ = std::move(kept);
  }
  std::vector<LoggedSteps> take(Ns steady_now) {
    std::lock_guard lock(mutex_);
    std::vector<LoggedSteps> all;
    if (steady_now > until_) return all;
    for (auto& [key, job] : jobs_) {
      all.push_back(job);
      job.ended.clear();
    }
    return all;
  }

 private:
  static constexpr i64 kMostEnded = 10'000;  // where nobody takes them
  using Key = std::tuple<std::string, std::string, i64>;
  std::mutex mutex_;
  std::map<Key, LoggedSteps> jobs_;
  Ns until_ = 0;
};

}  // namespace spotter::collect
