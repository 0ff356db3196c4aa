// What the agent knows, as tables.
#pragma once
#include "agent/agent.h"
#include "table/table.h"

namespace spotter::agent {

std::span<const Field> processes_columns();
std::span<const Field> status_columns();
std::span<const Field> captures_columns();

Table processes_table(Agent& agent);
Table captures_table(Agent& agent);  // that it knows, the newest first
Table status_table(const Agent& agent);

}  // namespace spotter::agent
