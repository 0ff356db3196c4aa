// The table `incidents`: one row for each, as lists of them show it.
#pragma once
#include <span>

#include "respond/incidents/incident.h"
#include "table/table.h"

namespace spotter::wire {

std::span<const Field> incidents_columns();
Table incidents_table(std::span<const respond::Incident> incidents);

}  // namespace spotter::wire
