// Pauses: where hosts launch nothing, and how much of that a job without trouble would have at the same
// place. Waits for the device are none, nor are silences of hosts of which too little was recorded.
#pragma once
#include <vector>

#include "analyze/replay/job_program.h"
#include "diagnose/model/stages.h"

namespace spotter::diagnose {

struct PauseAt {
  u32 rank, step, row;  // of the program, of its rank
  analyze::Cause kind;
  Ns host;     // how long
  Ns ideal;    // how long it would be: the lower quartile of what the stage's ranks and steps have at this
               // place, 0 where less than three quarters of them have it; 0 of data loading, allocation and
               // compilation
  Ns covered;  // in which operators run
  bool follows_sync = false;  // right behind a wait for the device within the step
  Ns excess() const { return host > ideal ? host - ideal : 0; }
};

// Waits of a host for its device, with more work launched behind them in their step: where the device runs
// dry. The wait at a step's end, as a loop that logs its loss has it, is none of these.
struct SyncAt {
  u32 rank, step, row;
  analyze::Cause kind;  // none, allocation or copy
};

// Whether the row right behind the wait is a pause that is there because of it: the host could prepare
// nothing meanwhile. What has a copy goes on with that: a silence behind it is work of its own, as writing it
// away is.
inline bool takes_along(const SyncAt& sync, const analyze::SkeletonRow& next) {
  return next.op == analyze::SkeletonOp::pause &&
         !(sync.kind == analyze::Cause::copy && next.cause == analyze::Cause::silence);
}

std::vector<SyncAt> syncs_of(const analyze::JobProgram& job);

// In steps only; by rank and row.
std::vector<PauseAt> pauses_of(const analyze::JobProgram& job, const Stages& stages);

}  // namespace spotter::diagnose
