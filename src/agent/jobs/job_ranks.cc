#include "agent/jobs/job_ranks.h"

#include <algorithm>
#include <map>
#include <set>

namespace spotter::agent {

std::vector<JobRank> ranks_of(collect::Identities& identities, const std::string& job) {
  std::set<i64> pids;
  for (const i64 pid : identities.in_jobs()) pids.insert(pid);
  for (const i64 pid : identities.noticed()) pids.insert(pid);
  // A launcher's id may be anybody's: who calls his process by it has no part in the job of the first one.
  const i64 owner = identities.job_facts(job).uid;
  std::map<i64, i64> first;
  for (const i64 pid : pids) {
    const collect::Who who = identities.who(pid);
    if (who.job == job && who.rank && !who.is_helper && (owner < 0 || who.uid == owner))
      first.try_emplace(*who.rank, pid);
  }
  std::vector<JobRank> ranks;
  for (const auto& [rank, pid] : first) ranks.push_back({.rank = rank, .pid = pid});
  return ranks;
}

}  // namespace spotter::agent
