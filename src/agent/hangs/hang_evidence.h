// HangEvidence: what can be found out about a job that does not go on, for an incident of it, within seconds
// and without a trace: what its ranks do, here and as other hosts say, what NCCL says, what dumps of
// PyTorch's flight recorder say (read as the job's user, by a process of its own). The loop's thread; /proc
// and files are looked at on others, since a file system may hang as well.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/captures/analysis_process.h"
#include "agent/hangs/ras_watch.h"
#include "base/system/host.h"
#include "base/system/side_threads.h"
#include "collect/process/identities.h"
#include "net/loop.h"
#include "respond/hang.h"
#include "respond/incidents/incidents.h"
#include "respond/rules.h"
#include "respond/steps/job_pace.h"

namespace spotter::agent {

class HangEvidence {
 public:
  // All of them outlive this.
  struct Parts {
    net::Loop& loop;
    const Host& host;
    const std::string& host_name;
    std::shared_ptr<collect::Identities> identities;
    AnalysisProcesses& analyses;
    const respond::JobPaces& paces;
    const respond::Rules& rules;
    const RasWatch& ras;
    const respond::Incidents& incidents;
  };
  explicit HangEvidence(Parts parts);
  ~HangEvidence();

  // `done` is called later: at last after 8 s with what is known, and again where dumps tell more. False: it
  // is gathered already for this incident, and nothing is begun.
  using Done = std::function<void(respond::Conclusion)>;
  // `hears_others`: the other hosts of the job may still say what their ranks do.
  bool gather(const respond::Incident& incident, bool hears_others, Done done);

  static constexpr Ns kPatience = 8 * kSecond;

 private:
  struct Gathering;
  struct Dumps;

  void look(const std::string& id);
  void looked(const std::string& id, std::vector<respond::HostedRank> ranks);
  void found(const std::string& id, const Dumps& dumps);
  void add_others(const std::string& id, respond::HangFacts& facts) const;
  void conclude(const std::string& id, bool is_last);

  Parts parts_;
  std::function<void(std::function<void()>)> post_;
  const SideThreads threads_ = SideThreads(4);                 // one that hangs counts until it does not
  std::map<std::string, std::unique_ptr<Gathering>> running_;  // by the incident's id
  std::shared_ptr<const int> alive_ = std::make_shared<const int>();
};

}  // namespace spotter::agent
