// Ranks that take part in calls and of which there is no file, or none of that time, or none with device
// work. How long the others wait for them no file says: a call's transfer is what such calls of its group
// take else, and what is beyond that was waiting.
#pragma once
#include "analyze/replay/job_program.h"

namespace spotter::analyze {

// Fills in JobProgram::absent and, of calls that have such members, the transfer (the median of those of one
// group, operation and size that have all members here; where none has, the 10 % quantile, and of a group
// that has one rank here no more than such devices' network needs) and how much later the last of them came
// than the group's call before had ended. Groups are known by the ranks that the trace lists, of more than 30
// but some; a call that names none is of the one group whose calls its stream has.
void set_absent(JobProgram& job);

}  // namespace spotter::analyze
