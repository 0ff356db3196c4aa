// Incidents in their file (incident_store.h), and how they came to be what they are.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "store/database.h"

namespace spotter::store {

struct StoredIncident {
  std::string id = {}, key = {};
  i64 n = 0;  // how often there was one of this key
  std::string state = {};
  Ns opened = 0, updated = 0, closed = 0;  // Unix time; closed 0: it is open
  std::string text = {};                   // JSON
};

struct Transition {
  Ns at = 0;
  std::string from = {}, to = {}, why = {};
};

struct IncidentLimits {
  i64 most = 10'000;
  Ns kept = 30 * kDay;       // after it was closed
  Ns key_kept = 365 * kDay;  // how often there was one of a key is known so long
  i64 most_keys = 20'000;
  i64 most_transitions = 200;  // of one incident: the newest
};

// Each in the caller's transaction.
Result<void> put_incident(Database& database, const StoredIncident& incident);
Result<void> add_transition(Database& database, const std::string& incident, const Transition& transition,
                            i64 most);
Result<std::vector<StoredIncident>> newest_incidents(Database& database, i64 most);
Result<std::vector<StoredIncident>> open_incidents(Database& database);
Result<std::optional<StoredIncident>> find_incident(Database& database, const std::string& id);
Result<std::vector<Transition>> transitions_of(Database& database, const std::string& id);
// How often there was one of each key.
Result<std::vector<std::pair<std::string, i64>>> all_keys(Database& database);
// Lets go of what is over its time or number.
Result<void> trim_incidents(Database& database, Ns now, const IncidentLimits& limits);
// Lets go of so many, closed ones first, the oldest first.
Result<void> remove_oldest(Database& database, i64 count);

}  // namespace spotter::store
