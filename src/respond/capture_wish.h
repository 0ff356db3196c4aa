// Whether an incident is one for which a job is to be looked at: a slow one is traced (within which budget
// says budget.h), one that hangs is not, and asked otherwise.
#pragma once
#include <map>
#include <string>

#include "respond/incident.h"

namespace spotter::respond {

// Why it is not; empty: it is. `has_stopped`: the job does not go on.
std::string why_not_traced(const Incident& incident, const std::map<u64, Condition>& firing,
                           bool has_stopped);

}  // namespace spotter::respond
