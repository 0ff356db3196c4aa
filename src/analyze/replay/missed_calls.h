// Calls that one rank alone has not come to when its recording ends, though the others wait there: it stands
// still, or works on, and no call that all have shows by how much.
#pragma once
#include "analyze/replay/job_program.h"

namespace spotter::analyze {

// Fills in JobProgram::missed, where recordings say until when they go: of calls that none of those who came
// has seen end. A rank is of a group if it has one of its calls; whoever has a later one has come, and what
// began before its first one may not be recorded. Who is in another call at the end is waiting, too.
void set_missed(JobProgram& job);

}  // namespace spotter::analyze
