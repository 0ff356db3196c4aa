// Incidents of this host: its samples go through the rules, what those say becomes incidents, for which jobs
// are traced within their budget, and what is found goes to the memory and from there to people.
//
//   samples -> rules -> leading (to who leads) -> incidents
//   incidents -> memory (outbox) -> notify/delivery -> notifiers
//   incidents -wants a capture-> budget -> investigation -> conclusion -> incidents
//
// The loop's thread, but for offer(), state(), open_counts() and automatic_captures().
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agent/access.h"
#include "agent/audit.h"
#include "agent/clock.h"
#include "agent/hangs/hang_watch.h"
#include "agent/hangs/rank_waits.h"
#include "agent/incidents/changes.h"
#include "agent/incidents/incident_captures.h"
#include "agent/incidents/incident_memory.h"
#include "agent/incidents/leading.h"
#include "agent/incidents/report_folder.h"
#include "agent/respond_options.h"
#include "agent/telemetry/consumer.h"
#include "base/system/side_threads.h"
#include "capture/captures.h"
#include "kineto/registry.h"
#include "respond/alerts/alerts.h"
#include "respond/incidents/incidents.h"
#include "respond/incidents/shared.h"
#include "respond/logs/job_lines.h"
#include "respond/steps/job_pace.h"

namespace spotter::agent {

class Incidents : public Consumer {
 public:
  // Of the agent; all of them outlive it.
  struct Parts {
    net::Loop& loop;
    Clock clock;
    const Host& host;
    const std::string& host_name;
    const Access& access;
    Audit& audit;
    kineto::Registry& registry;
    std::shared_ptr<collect::Identities> identities;
    AnalysisProcesses& analyses;
  };
  Incidents(const Parts& parts, RespondOptions options);
  ~Incidents() override;

  // Once, if the options want it; `memory` outlives this. Errors: those of the credentials for other hosts.
  Result<void> begin(IncidentMemory& memory);

  void offer(const SharedBatch& batch) override;  // any thread; never waits
  std::optional<SinkState> state() const override;
  // Of each state and severity, those without any, too; empty where nothing is watched. Any thread.
  std::vector<IncidentCount> open_counts() const;
  std::vector<CaptureCount> automatic_captures() const;  // of each result that there was; any thread
  void captured(const capture::Capture& capture) { captures_.captured(capture); }  // a listener of Captures

  // What people ask and do. Errors: not_found, invalid; denied (who may trace his own jobs alone
  // acknowledges, resolves and silences nothing but these).
  std::vector<respond::Incident> all() const { return incidents_.all(); }
  Result<respond::Incident> find(const std::string& id) const;
  // The folder that has its report. Errors: not_found (also: there is none, and why); denied (who may trace
  // his own processes alone sees no report of others').
  Result<std::shared_ptr<const ReportFolder>> report(const Peer& peer, const std::string& id) const;
  std::optional<ReportFolderState> report_state() const;
  const std::map<std::string, Leading::Other>& other_agents() const { return leading_.others(); }
  Result<respond::Incident> acknowledge(const Peer& peer, const std::string& id);
  Result<respond::Incident> resolve(const Peer& peer, const std::string& id);
  Result<void> silence(const Peer& peer, respond::Silence silence);
  // Alerts of another program; `residents`: of the jobs that are here. Errors: busy, unsupported (incidents
  // are off).
  Result<std::vector<respond::AlertAnswer>> take(const Peer& peer, const respond::AlertFrame& frame,
                                                 std::span<const respond::Resident> residents);
  // Errors: also those of the store.
  Result<void> add(const Peer& peer, respond::Change& change);
  const std::vector<respond::Change>& changes() const { return changes_.all(); }
  std::vector<respond::Silence> silences() const;
  // What the agent of another host tells of a job that they share. Errors: denied.
  Result<respond::ReportAnswer> receive(const Peer& peer, const respond::Report& report);
  const RespondOptions& options() const { return options_; }

 private:
  std::string why_no_report(const respond::Incident& incident) const;
  Result<void> may_change(const Peer& peer, const std::string& job) const;
  void take_batches();
  void take(const Batch& batch);
  void pass();
  void take(const std::vector<respond::Condition>& conditions, Ns now);
  void say(const respond::Condition& condition, Ns now);
  void tell(respond::Condition condition, Ns now);
  void apply(const respond::Incidents::Changes& changes);
  void apply(const Result<respond::Incidents::Changes>& changes);
  void look_back(respond::Incident& incident) const;
  void remember(const respond::IncidentChange& change, Ns now);

  Parts parts_;
  RespondOptions options_;
  std::function<void(std::function<void()>)> post_;
  const SideThreads aside_ = SideThreads(4);  // for folders of jobs
  mutable std::mutex mutex_;                  // of what any thread comes to, down to the next empty line
  std::vector<SharedBatch> queue_;            // for the next second
  i64 dropped_ = 0, taken_ = 0, left_out_ = 0;
  std::vector<IncidentCount> open_counts_;
  std::vector<CaptureCount> automatic_captures_;

  respond::Rules rules_;
  const std::set<std::string_view> wanted_;  // the tables that somebody here looks at
  respond::JobPaces paces_;
  respond::JobLines lines_;
  Changes changes_;
  respond::Incidents incidents_;
  respond::Alerts alerts_;
  std::shared_ptr<ReportFolder> reports_;  // nullptr: none are kept
  Leading leading_;
  respond::SharedConditions shared_;
  IncidentCaptures captures_;
  HangWatch hangs_;
  RankWaits waits_;
  IncidentMemory* memory_ = nullptr;
  net::Timer tick_;
  std::shared_ptr<const int> alive_ = std::make_shared<const int>();
};

}  // namespace spotter::agent
