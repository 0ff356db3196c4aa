// What NCCL has answered about a job, as the table that rules see (respond/rules/ras_rows.h). Pure.
#pragma once
#include <span>
#include <string>

#include "agent/jobs/job_ranks.h"
#include "table/table.h"
#include "wire/nccl_ras.h"

namespace spotter::agent {

struct RasJob {
  std::string name = {}, user = {};
  i64 world_size = 0;  // 0: not known
  std::string host = {};
  std::span<const JobRank> here = {};  // on that host
};

// NCCL counts ranks in each communicator; which ones they are in the job is told by one that has all of them,
// where NCCL says who is in it, or by their pids, where the whole job is here. Of very many differences the
// first ones.
Table ras_table(const wire::RasAnswer& answer, const RasJob& job);

}  // namespace spotter::agent
