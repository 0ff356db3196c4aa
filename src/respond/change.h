// Change: that something was made otherwise, and whom it touches.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "respond/incidents/incident.h"

namespace spotter::respond {

struct Change {
  ChangeBefore change = {};
  std::string job = {};                 // whose; empty: any job's
  std::vector<std::string> hosts = {};  // on which; empty: any
};
inline constexpr size_t kMostChangeText = 1024;  // bytes of what is said of one

// What is known of a host or a job, by "KIND/WHAT": "driver/nvidia", "environment/NCCL_DEBUG".
struct Fact {
  std::string value = {};
  Ns since = 0;  // known to be so
};
using Facts = std::map<std::string, Fact>;
using FactValues = std::map<std::string, std::string>;

// What is another value now. `is_whole`: a fact that is on one side alone is a change, too.
std::vector<ChangeBefore> differences(const Facts& before, const FactValues& now, Ns at, bool is_whole);
// With the time since when each is so.
Facts kept_facts(const Facts& before, const FactValues& now, Ns at);

// Those of a time before the incident that may have to do with it, at most three, the likeliest first: by
// their kind, by how long before it they were, and whether they touch exactly those who are suspected. That
// one was before it makes none its cause.
std::vector<ChangeBefore> changes_before(const std::vector<Change>& changes, const Incident& incident);

}  // namespace spotter::respond
