// Who of the jobs is on this host: the processes that poll and those that are sampled, and whose the GPUs
// are. From what is known already: no file is read.
#pragma once
#include <vector>

#include "kineto/registry.h"
#include "respond/alerts/alert_target.h"
#include "table/batch.h"

namespace spotter::agent {

// `latest`: the newest samples.
std::vector<respond::Resident> residents(const kineto::Registry& registry,
                                         std::span<const SharedBatch> latest);

}  // namespace spotter::agent
