// CaptureControl: begins and ends captures for those who may, says so in the log, and looks after those that
// are under way. The loop's thread.
#pragma once
#include <string>
#include <string_view>

#include "agent/access.h"
#include "agent/audit.h"
#include "agent/clock.h"
#include "agent/jobs/processes.h"
#include "base/result.h"
#include "capture/captures.h"
#include "collect/gpu/profiling_pause.h"
#include "net/loop.h"

namespace spotter::agent {

class CaptureControl {
 public:
  // Of the agent; all of them outlive it.
  struct Parts {
    net::Loop& loop;
    Clock clock;
    const Access& access;
    Audit& audit;
    Processes& processes;
    capture::Captures& captures;
    collect::ProfilingPause& profiling_pause;
  };
  explicit CaptureControl(const Parts& parts);

  // `what`: how it was asked for, for the log. Errors: denied, those of Captures::begin().
  Result<std::string> begin(const Peer& peer, const capture::Request& request, std::string_view what);
  // Ends it for all processes. Errors: not_found, denied.
  Result<void> end(const Peer& peer, const std::string& id);
  // Leaves the GPUs' profiling counters to somebody else for this time; 0: no longer. Errors: denied.
  Result<void> pause_profiling(const Peer& peer, Ns duration);

 private:
  Result<std::string> begin_if_allowed(const Peer& peer, const capture::Request& request);
  void keep_ticking();
  void leave_profiling_alone();  // DCGM's, while captures are under way

  Parts parts_;
  net::Timer tick_;
  bool ticking_ = false;
};

}  // namespace spotter::agent
