// JobPaces: how the jobs of this host go on, by the tables `step` and `job`: how old they are, how many steps
// they have made and how long those take; and what a capture has cost, by the job's own steps. One thread.
#pragma once
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "respond/job_writes.h"
#include "respond/rules/rank_steps.h"

namespace spotter::respond {

struct JobPace {
  std::string user = {};
  std::set<i64> ranks = {};  // that are here
  i64 world_size = 0;        // 0: not known
  Ns first = 0;              // when a step of it was seen first; 0: none was
  i64 steps = 0;             // of the rank that has made most of those seen
  Ns step = 0;               // median of the last ones; 0: not known
  Ns longest = 0;            // of the last few
  Ns last_step = 0;          // when it ended
  Ns between = 0;            // the longest that news of steps lately took: a log may tell of each 100th
  Ns last_writing = 0;       // when it wrote more than 50 MB/s; 0: not since the agent looks

  // Of the last few and the one that is under way, which is known to take as long as news of it are overdue.
  Ns longest_until(Ns now) const {
    const Ns overdue = between == 0 || last_step == 0 ? 0 : now - last_step - between;
    return overdue > longest ? overdue : longest;
  }
};

struct CaptureCost {
  std::optional<double> overhead_ratio = {};   // steps during it to steps before
  std::optional<double> aftermath_ratio = {};  // steps after it to steps before
  std::optional<double> cost_s = {};           // that the steps during it took longer
};

class JobPaces {
 public:
  static constexpr size_t kMostJobs = 256, kMostRanks = 1024;  // of a host, of a job there

  void see(const Sample& sample);
  std::optional<JobPace> of(const std::string& job) const;  // nothing: it is not here

  std::vector<std::string> going() const;  // jobs that have made steps

  // Jobs whose next step is late: five usual ones have passed since the last, and 10 s.
  std::vector<std::string> late(Ns now) const;

  i64 left_out() const { return left_out_; }  // rows of ranks and jobs for which there was no room

  // Of a capture that lasted from the one to the other (Unix time), as far as its steps are still known: 50
  // before, of those that ended after `since`, and 50 after it, or as many as there are. Of short steps, of
  // which more than 10 end between two samples, each stands for several.
  CaptureCost cost(const std::string& job, Ns since, Ns from, Ns until) const;

 private:
  struct Ended {
    Ns end = 0, took = 0;  // of the last of so many
    i64 steps = 1;
  };
  struct Job {
    JobPace pace = {};
    bool has_shown = false;
    Ns shown_at = 0;                // when it had a row last
    std::optional<i64> shown = {};  // whose steps `last` has: of the lowest rank here
    // Two users may call their jobs by one name.
    using Counts = std::map<std::pair<std::optional<i64>, std::string>, i64>;
    Counts counted = {};  // steps by rank and user, as its counter says
    Counts first_count = {};
    std::deque<Ended> last = {};
    std::deque<Ns> waits = {};  // between news
    Ns seen = 0;
  };
  Job* job_of(const std::string& name);  // nullptr: there is no room for it
  void see_steps(const Sample& sample);
  void see_jobs(const Sample& sample);

  StepRows rows_;
  JobWrites writes_;
  std::map<std::string, Job> jobs_;
  i64 left_out_ = 0;
};

}  // namespace spotter::respond
