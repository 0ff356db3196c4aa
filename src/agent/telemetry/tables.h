// What the agent knows, as tables (wire/columns.h).
#pragma once
#include "agent/agent.h"
#include "table/table.h"

namespace spotter::agent {

Table processes_table(Agent& agent);
Table captures_table(const Agent& agent);  // that it knows, the newest first

}  // namespace spotter::agent
