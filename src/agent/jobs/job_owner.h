// Whose a job is: anybody may give his process the id of another user's job, and has no part in it.
#pragma once
#include <string>

#include "collect/process/identities.h"
#include "kineto/registry.h"

namespace spotter::agent {

// Of those who claim it: whose process Slurm has put into the job, else who was the first to be known by that
// id, else who polled first. -1: nobody claims it.
i64 owner_of(collect::Identities& identities, const kineto::Registry& registry, const std::string& job);

}  // namespace spotter::agent
