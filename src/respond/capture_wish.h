// Whether an incident is one for which a job is to be traced; within which budget says budget.h.
#pragma once
#include <map>
#include <string>

#include "respond/incidents/incident.h"

namespace spotter::respond {

// Empty: it is. `has_stopped`: the job does not go on.
std::string why_not_traced(const Incident& incident, const std::map<u64, Condition>& firing,
                           bool has_stopped);

}  // namespace spotter::respond
