// Incidents and conditions as JSON: what the API answers, the store keeps and webhooks send, and what hosts
// tell the one that leads. Times are RFC 3339 in UTC, to the millisecond; null is none. `version`, `id`,
// `key` and the symptom's `ratio` are for who reads, and are not read back.
//
// Members of other names are left alone: a newer agent may send them. Those that are missing are as in a new
// object.
#pragma once
#include <boost/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "respond/incidents/incident.h"

namespace spotter::wire {

boost::json::object to_json(const respond::Incident& incident);
boost::json::object to_json(const respond::Condition& condition);

// Errors: invalid (a member of another type or form), unsupported (of another version).
Result<respond::Incident> incident_from(const boost::json::object& object);
Result<respond::Condition> condition_from(const boost::json::object& object);

// The same as texts.
std::string incident_text(const respond::Incident& incident);
std::string condition_text(const respond::Condition& condition);
// Errors: also invalid (no JSON).
Result<respond::Incident> read_incident(std::string_view text);
Result<respond::Condition> read_condition(std::string_view text);

}  // namespace spotter::wire
