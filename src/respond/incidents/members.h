// Members: the hosts of the jobs that this host leads, as their reports say: which ranks are where, how the
// job goes on there, and which ranks of which hosts a capture takes. One thread.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/text/listed_ranks.h"
#include "respond/incidents/report.h"
#include "respond/steps/job_pace.h"

namespace spotter::respond {

// Whom a capture asks. Empty ranks: all there are.
struct Chosen {
  std::vector<i64> ranks = {};
  std::vector<std::string> hosts = {};  // empty: this host alone
};

// Steps by now to steps `before`, where somebody has told of some that ended after `since`.
std::optional<double> heard_ratio(const JobPace& before, const std::optional<JobPace>& now, Ns since);

class Members {
 public:
  static constexpr Ns kForgotten = 30 * kMinute;   // a host that says nothing more
  static constexpr size_t kMostHosts = 20'000;     // of all jobs
  static constexpr size_t kMostRanks = 1'000'000;  // of all of them
  static constexpr i64 kWhole = 64;                // ranks of a job that is traced whole
  static constexpr size_t kScouts = 32;            // of a larger one

  void see(const Report& report, Ns at);
  void pass(Ns at);

  std::vector<std::string> hosts(const std::string& job) const;
  i64 world_size(const std::string& job) const;  // 0: not known
  // By whoever knows most of it; nothing: nobody has told of it.
  std::optional<JobPace> pace(const std::string& job) const;

  // `own`: the ranks of this host, `hosts`: those of the job that are known otherwise (a scheduler's list).
  // `suspects`: ranks that conditions name; of a large job they come first, then one of each host, spread.
  Chosen choose(const std::string& job, const std::string& own_host, const std::vector<i64>& own,
                const std::vector<std::string>& hosts, const std::vector<i64>& suspects) const;
  // Whom a second capture takes, where the first one of a large job, of the ranks `traced`, names no cause
  // but a group that waits for ranks which it left out (waiting_group.h). No ranks: nobody.
  Chosen choose_more(const std::string& job, const std::string& own_host, const std::vector<i64>& own,
                     const ListedRanks& group, const std::vector<i64>& traced) const;

 private:
  struct Member {
    JobHere here = {};
    Ns seen = 0;
  };
  std::map<std::string, std::vector<i64>> places(const std::string& job, const std::string& own_host,
                                                 const std::vector<i64>& own) const;
  void leave_to(const std::string& host, std::map<std::string, Member>& hosts);

  std::map<std::string, std::map<std::string, Member>> jobs_;  // by job, by host
  size_t count_ = 0, ranks_ = 0;
};

}  // namespace spotter::respond
