// Replay: runs a job again by the rules of streams. The host goes from row to row; work of a stream begins
// when it has been launched, when the work before it has ended and what the stream waits for is done; a call
// begins so on each rank and ends when the last one has come and it has transferred; no more than 1,024
// launches of a rank are outstanding. With the times as they were measured the steps come out as they were.
//
// Cost: 50 to 100 ns a row.
#pragma once
#include <vector>

#include "analyze/replay/job_program.h"
#include "analyze/replay/scenario.h"

namespace spotter::analyze {

struct Replayed {
  std::vector<Ns> step_start;  // per step of all ranks, on the job's clock
  std::vector<Ns> finish;      // per rank: when its last step's mark and all work before that have ended
  std::vector<Ns> call_start;  // per call: when the last one has come
  i64 forced = 0;  // calls that were ended without some of their ranks, since all waited for each other

  // From when the first rank began its first step to when the last one has finished.
  Ns length(const JobProgram& job) const;
};

// When everything came to pass, for who asks what held the job up. All per row of all ranks; kMaxTime negated
// where it did not.
struct Trail {
  std::vector<Ns> came, went;        // when the host came to it, and when it went on, having waited there
  std::vector<u32> held_by;          // for the end of which row of its rank it waited longest; kNone
  std::vector<Ns> free, start, end;  // of a row on a stream: when the stream was done with what was before; a
                                     // call's own start; the end
};

// Fills in `trail`, if there is one.
Replayed replay(const JobProgram& job, const Scenario& scenario, Trail* trail = nullptr);

// What was lost between the traces and their replay.
Notes replay_notes(const JobProgram& job, const Replayed& played);

}  // namespace spotter::analyze
