// The agent of a host, part by part: what runs here whoever asks. The doors by which they come (api/) are no
// part of it. All on one loop's thread; a part outlives those below it.
#pragma once
#include <memory>
#include <string>

#include "agent/access.h"
#include "agent/agent_options.h"
#include "agent/audit.h"
#include "agent/captures/analysis_process.h"
#include "agent/captures/capture_control.h"
#include "agent/captures/capture_waiters.h"
#include "agent/clock.h"
#include "agent/incidents/incident_memory.h"
#include "agent/incidents/incidents.h"
#include "agent/jobs/processes.h"
#include "agent/queries.h"
#include "agent/telemetry/telemetry.h"
#include "base/result.h"
#include "base/system/host.h"
#include "capture/captures.h"
#include "collect/gpu/profiling_pause.h"
#include "collect/process/identities.h"
#include "kineto/registry.h"
#include "net/loop.h"

namespace spotter::agent {

struct Agent {
  Agent(net::Loop& loop, AgentOptions options, Host host);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // Listens to training processes. Errors: denied, io, busy (no thread for the audit can be had).
  Result<void> listen();
  // Begins to measure, and to tell: once, after everything that only one agent of a host can have is this
  // one's. Errors: invalid (a sink's or notifier's settings), denied, not_found, io (a notifier's secret),
  // busy.
  Result<void> measure();

  const AgentOptions options;
  const Host host;
  const std::string host_name;
  const Ns started;
  const Clock clock;

  Access access;                                             // who may do what
  Audit audit;                                               // who did what
  std::shared_ptr<collect::ProfilingPause> profiling_pause;  // whose the GPUs' counters are
  std::shared_ptr<collect::Identities> identities;           // who a process is
  kineto::Registry registry;                        // as it is; Processes::registry() has newcomers, too
  capture::Captures captures;                       // under way, and over
  CaptureWaiters waiters;                           // who waits for news of them
  AnalysisProcesses analyses;                       // of what they wrote
  std::unique_ptr<IncidentMemory> incident_memory;  // what went wrong, and who is told; made by measure()
  Queries incident_queries;                         // to what that remembers
  Incidents incidents;                              // what the rules say, and what is done about it
  Telemetry telemetry;                              // what is measured, and who takes it
  Processes processes;                              // what training processes say
  CaptureControl control;                           // what is done about it, for whom
};

}  // namespace spotter::agent
