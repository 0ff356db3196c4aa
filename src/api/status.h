// How an agent is, part by part, as a table (wire/columns.h).
#pragma once
#include "agent/agent.h"
#include "api/doors.h"
#include "table/table.h"

namespace spotter::api {

Table status_table(const agent::Agent& agent, const Doors& doors);

}  // namespace spotter::api
