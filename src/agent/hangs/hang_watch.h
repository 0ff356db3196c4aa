// HangWatch: what is done about jobs that do not go on: NCCL is asked about those that are late, and for an
// incident of one evidence is gathered, again where a later condition may tell more. Never a trace. The
// loop's thread.
//
//   a step is late -> RAS -> table -> rules      an incident -> evidence -> conclusion -> incidents
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "agent/hangs/hang_evidence.h"
#include "agent/hangs/ras_watch.h"
#include "agent/incidents/leading.h"
#include "respond/incidents/incidents.h"

namespace spotter::agent {

class HangWatch {
 public:
  // Of Incidents; all of them outlive this. `take`: what NCCL has said. `apply`: what is to be done with what
  // the incidents answer.
  struct Parts {
    net::Loop& loop;
    const Host& host;
    const std::string& host_name;
    const kineto::Registry& registry;
    std::shared_ptr<collect::Identities> identities;
    AnalysisProcesses& analyses;
    const respond::Rules& rules;
    const respond::JobPaces& paces;
    respond::Incidents& incidents;
    std::function<void(const Batch&)> take;
    std::function<void(const Result<respond::Incidents::Changes>&)> apply;
    const Leading& leading;
  };
  explicit HangWatch(Parts parts);

  void begin(const respond::Incident& incident);
  void fires(const respond::Condition& condition);  // begins, or goes on, here or on another host
  void pass(Ns now);                                // each second or two; Unix time

 private:
  bool gather(const respond::Incident& incident);

  Parts parts_;
  RasWatch ras_;
  HangEvidence evidence_;
  // Conditions for which evidence was gathered, and which still fire, with the incident's id.
  std::map<u64, std::string> told_;
};

}  // namespace spotter::agent
