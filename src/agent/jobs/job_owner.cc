#include "agent/jobs/job_owner.h"

#include <algorithm>
#include <vector>

#include "process/scheduler.h"

namespace spotter::agent {

i64 owner_of(collect::Identities& identities, const kineto::Registry& registry, const std::string& job) {
  std::vector<const kineto::Process*> claiming;
  for (const auto& [pid, process] : registry.all()) {
    if (!kineto::matches(process, {.job = job, .helpers = true})) continue;
    if (process::slurm_job_of(process.facts.cgroup) == job) return process.facts.uid;
    claiming.push_back(&process);
  }
  // An id may be used again, by somebody else.
  const i64 first = identities.job_facts(job).uid;
  const auto is_first = [&](const kineto::Process* p) { return p->facts.uid == first; };
  if (std::ranges::any_of(claiming, is_first)) return first;
  const auto earliest =
      std::ranges::min_element(claiming, {}, [](const kineto::Process* p) { return p->first_poll; });
  return earliest == claiming.end() ? -1 : (*earliest)->facts.uid;
}

}  // namespace spotter::agent
