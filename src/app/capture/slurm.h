// Slurm's word on a job, by its own commands (squeue, scontrol).
#pragma once
#include <string>
#include <vector>

#include "base/result.h"

namespace spotter::app {

struct SlurmNode {
  std::string name, address;  // NodeName, NodeAddr
};

struct SlurmJob {
  std::string id;  // as its processes have it in SLURM_JOB_ID; a member of an array has another one outside
  std::vector<SlurmNode> nodes;
};

// Errors: invalid (that is no job id), not_found (no such job, or it does not run), io.
Result<SlurmJob> find_slurm_job(const std::string& id);

// What squeue prints by "%A %N", and scontrol of nodes, a line each.
struct SlurmPlace {
  std::string id, nodes;
};
Result<SlurmPlace> read_squeue(const std::string& text, const std::string& id);
std::vector<SlurmNode> read_nodes(const std::string& text);

}  // namespace spotter::app
