// What is shown of one incident beside its record (wire/incident.h): how people are told of it, and how it
// came to be as it is.
#pragma once
#include <span>
#include <string>

#include "respond/incidents/incident.h"
#include "store/incident_rows.h"
#include "table/table.h"

namespace spotter::api {

// The message as it would be told now: its headline, then a row for each line.
Table message_table(const respond::Incident& incident, const std::string& host_name);
Table transitions_table(std::span<const store::Transition> transitions);

}  // namespace spotter::api
