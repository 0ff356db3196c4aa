// Who leads a job: the agent of the host of global rank 0. All agents know it by what their processes were
// told: MASTER_ADDR, as most launchers set it, then Slurm's list of nodes.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "process/scheduler.h"
#include "respond/incidents/relay.h"

namespace spotter::agent {

// No hosts: the job is here alone, or nobody says where else.
respond::Leaders job_leaders(const process::JobFacts& facts, const std::string& host_name);

// The hosts that all of these jobs are known to have, in the order in which the first of them has them. This
// one, which knows that it is one of them, is the last where it is in no list.
std::vector<std::string> common_hosts(std::span<const respond::Leaders> jobs, const std::string& host_name);

// Whether it is a name or an address of this host, as far as that is known without a name server.
bool is_this_host(const std::string& name, const std::string& host_name);

}  // namespace spotter::agent
