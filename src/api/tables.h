// What the agent knows, as tables.
#pragma once
#include "api/agent.h"
#include "table/table.h"

namespace spotter::api {

std::span<const Field> processes_columns();
std::span<const Field> status_columns();

Table processes_table(Agent& agent);
Table status_table(const Agent& agent);

}  // namespace spotter::api
