// The critical path of a job: what, on which rank, the job waited for at each moment of its replay. Followed
// back from the end of the last rank's work through streams, hosts and calls, it has no gaps: its pieces add
// up to the job, and those of a step to the step.
#pragma once
#include <array>
#include <string_view>
#include <vector>

#include "analyze/replay/replayed_steps.h"

namespace spotter::analyze {

enum class PathKind : u8 {
  host,      // the host works or launches
  pause,     // it launches nothing
  device,    // kernels and copies, or operators of a job without devices
  gap,       // the stream idles between work that had been launched
  transfer,  // a call, once its last rank has come
  absent,    // ranks without a file are waited for
  start,     // the rank that is waited for begins later than the first one
  count_
};
const char* path_kind_name(PathKind kind);

struct JobPiece {
  u32 step;  // of JobPath::steps
  u32 rank;  // of JobProgram::ranks
  PathKind kind;
  std::string_view name,
      group;  // of a transfer; of a pause: what is around it. Else empty. In the program's strings
  Ns start, dur;
};

struct JobPath {
  std::vector<JobStep> steps;  // as replayed
  std::vector<JobPiece> pieces;
};

// How much of it is of each kind, for a mean step: that adds up to the mean step but for what is rounded
// down.
using PathTimes = std::array<Ns, static_cast<size_t>(PathKind::count_)>;
PathTimes mean_times(const JobPath& path);

// With the times as they were. Neighbours that are alike are one piece.
JobPath job_path(const JobProgram& job);

}  // namespace spotter::analyze
