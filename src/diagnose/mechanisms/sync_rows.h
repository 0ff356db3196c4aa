// Waits of hosts for their devices, as several mechanisms look at them.
#pragma once
#include <string>
#include <vector>

#include "diagnose/model/job_model.h"

namespace spotter::diagnose {

// The operator or annotation around it, else the call.
std::string name_of(const JobModel& model, const SyncAt& sync);
std::vector<u32> ranks_of(const std::vector<const SyncAt*>& syncs);

// In the scenario nobody waits there; of the time right behind only what operators cover stays, and what is
// longer than usual there: that is no part of the wait.
void skip(const JobModel& model, const std::vector<const SyncAt*>& syncs, analyze::Scenario& scenario);

}  // namespace spotter::diagnose
