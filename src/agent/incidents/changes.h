// Changes: what was made otherwise on this host and with its jobs, by what people say and by what the agent
// sees itself:
//
//   the host: its boot, its kernel, the drivers of its GPUs and how much power they may draw
//   a job: its commit, its PyTorch, its command line and variables of its environment, against the last
//   healthy job of its series: of the same user and name, whose command is the same but for numbers
//
// They are kept for 30 days. The loop's thread; the disk is waited for where something is new.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/system/host.h"
#include "kineto/registry.h"
#include "respond/change.h"
#include "respond/steps/job_pace.h"
#include "store/incident_store.h"
#include "table/batch.h"

namespace spotter::agent {

class Changes {
 public:
  struct Parts {
    const Host& host;
    const std::string& host_name;
    const kineto::Registry& registry;
    const respond::JobPaces& paces;
    // Where a job's folders are looked at, which may be on a file server that does not answer: `look` is
    // called elsewhere, then `done` on this thread. False: not now. Empty: at once, on this thread.
    std::function<bool(std::function<void()> look, std::function<void()> done)> aside = {};
  };
  explicit Changes(Parts parts) : parts_(std::move(parts)) {}

  void begin(store::IncidentStore& store);

  Result<void> add(respond::Change change);  // errors: those of the store, unsupported (there is none)
  const std::vector<respond::Change>& all() const { return all_; }

  // Those of other hosts, as their agents say: remembered for as long as they may have to do with anything.
  void learn(std::vector<respond::Change> changes);
  void see(const Batch& batch);
  // Each second; `is_in_trouble`: whether an incident of a job is open.
  void pass(Ns now, const std::function<bool(const std::string& job)>& is_in_trouble);

  // What an incident is to show of it.
  void look_back(respond::Incident& incident) const;

 private:
  struct JobSeen {
    std::string series = {};
    respond::FactValues values = {};
    respond::Facts before = {};
    Ns began = 0;
    bool is_healthy = false;  // it is what others of its series are compared with
  };
  void see_host(const respond::FactValues& values);
  void meet(const kineto::Process& process);
  void met(const std::string& job, const std::string& series, respond::FactValues values, i64 start_ticks);

  Parts parts_;
  store::IncidentStore* store_ = nullptr;
  std::set<std::string> looked_at_;      // jobs whose folders are looked at now
  std::vector<respond::Change> all_;     // in the order of time
  std::vector<respond::Change> others_;  // of other hosts; in memory alone
  respond::Facts host_facts_;
  std::map<std::string, JobSeen> jobs_;
  Ns looked_ = 0;
};

}  // namespace spotter::agent
