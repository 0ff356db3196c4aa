// JobModel: what the mechanisms look at: a job's program, how it runs as it was measured, who does the same
// work, how much longer each rank's device works than its peers' and where its host pauses. Made once, then
// const.
#pragma once
#include <string>
#include <vector>

#include "analyze/replay/job_program.h"
#include "analyze/replay/replay.h"
#include "diagnose/model/cells.h"
#include "diagnose/model/evidence.h"
#include "diagnose/model/launches.h"
#include "diagnose/model/pauses.h"
#include "diagnose/model/stages.h"

namespace spotter::diagnose {

struct JobModel {
  explicit JobModel(analyze::JobProgram program, Evidence evidence = {});

  const analyze::JobProgram job;
  const Evidence evidence;
  const analyze::Scenario base;
  const analyze::Replayed played;
  const Stages stages;
  const Cells cells;
  const std::vector<PauseAt> pauses;
  const std::vector<SyncAt> syncs;
  const std::vector<Launches> launches;  // per rank
  i64 steps = 0;                         // of the job: what any rank has recorded
  Ns whole = 0;                          // from the first step's start to the job's end, as replayed
  Ns step_ns() const { return steps > 0 ? whole / steps : whole; }

  i64 step_number(u32 rank, u32 step) const { return job.ranks[rank].step_numbers[step]; }
  u32 step_index(u32 rank, u32 step) const { return job.ranks[rank].first_step + step; }
  size_t row_index(u32 rank, u32 row) const { return job.ranks[rank].first_row + row; }

  // By how much a rank is the last to come to the calls of a step: how long the last but one waits for it,
  // added up over those of one group, of which the most counts. The mean over its steps.
  Ns lateness(u32 rank) const { return lateness_[rank]; }

 private:
  std::vector<Ns> lateness_;
};

}  // namespace spotter::diagnose
