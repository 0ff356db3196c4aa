#include "diagnose/model/job_model.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/saturated.h"

namespace spotter::diagnose {
namespace {

using namespace analyze;

std::vector<Ns> lateness_of(const JobProgram& job) {
  std::map<std::pair<u32, StringId>, Ns> late;  // by step of all ranks and group: added up over its calls
  std::vector<Ns> most(job.steps), sums(job.ranks.size());
  std::vector<std::vector<u32>> step_of(job.ranks.size());  // per row
  for (u32 r = 0; r < job.ranks.size(); ++r) {
    u32 step = kNone;
    for (const SkeletonRow& row : job.ranks[r].rows()) {
      if (row.op == SkeletonOp::step) step = step == kNone ? 0 : step + 1;
      step_of[r].push_back(step);
    }
  }
  for (const JobCall& call : job.calls) {
    const auto members = job.members_of(call);
    if (members.size() < 2 || call.is_eager) continue;
    const Member* last = nullptr;
    Ns latest = -kMaxTime, next = -kMaxTime;
    for (const Member& m : members) {
      const Ns start = job.start(m);
      if (start > latest) {
        next = std::exchange(latest, start);
        last = &m;
      } else {
        next = std::max(next, start);
      }
    }
    const u32 step = step_of[last->rank][last->row];
    if (step == kNone) continue;
    Ns& of = late[{job.ranks[last->rank].first_step + step, job.row(*last).group}];
    of = add_saturated(of, latest - next);
  }
  for (const auto& [place, of_group] : late) most[place.first] = std::max(most[place.first], of_group);
  std::vector<Ns> missed(job.ranks.size());  // at once: who waits in one call may have begun the next
  for (const MissedCall& call : job.missed) missed[call.rank] = std::max(missed[call.rank], call.waited);
  for (u32 r = 0; r < job.ranks.size(); ++r) {
    const RankProgram& rank = job.ranks[r];
    sums[r] = missed[r];
    for (u32 s = 0; s < rank.steps(); ++s) sums[r] = add_saturated(sums[r], most[rank.first_step + s]);
    if (rank.steps() > 0) sums[r] /= rank.steps();
  }
  return sums;
}

}  // namespace

JobModel::JobModel(JobProgram program, Evidence beside)
    : job(std::move(program)),
      evidence(std::move(beside)),
      base(job),
      played(replay(job, base)),
      stages(stages_of(job)),
      cells(job, stages),
      pauses(pauses_of(job, stages)),
      syncs(syncs_of(job)),
      launches(launches_of(job)),
      lateness_(lateness_of(job)) {
  steps = static_cast<i64>(job.step_numbers.size());
  whole = played.length(job);
}

}  // namespace spotter::diagnose
