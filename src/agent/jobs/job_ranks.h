// The ranks of a job that run on this host. Any thread.
#pragma once
#include <string>
#include <vector>

#include "collect/process/identities.h"

namespace spotter::agent {

struct JobRank {
  i64 rank = 0, pid = 0;
};
// In order, one process of each: the first of those that are no launchers and no workers.
std::vector<JobRank> ranks_of(collect::Identities& identities, const std::string& job);

}  // namespace spotter::agent
