#include "diagnose/mechanisms/sync_rows.h"

#include <algorithm>
#include <utility>

namespace spotter::diagnose {
namespace {

// Of a pause whose place most ranks and steps have; of others it is not known what is usual.
Ns excess_at(const JobModel& model, u32 rank, u32 row) {
  const auto place = [](const PauseAt& pause) { return std::pair(pause.rank, pause.row); };
  const auto pause = std::ranges::lower_bound(model.pauses, std::pair(rank, row), {}, place);
  if (pause == model.pauses.end() || place(*pause) != std::pair(rank, row) || pause->ideal == 0) return 0;
  return pause->excess();
}

}  // namespace

std::string name_of(const JobModel& model, const SyncAt& sync) {
  const analyze::Skeleton& skeleton = model.job.ranks[sync.rank].skeleton;
  return std::string(skeleton.strings[skeleton.rows[sync.row].name]);
}

std::vector<u32> ranks_of(const std::vector<const SyncAt*>& syncs) {
  std::vector<u32> ranks;
  for (const SyncAt* sync : syncs)
    if (ranks.empty() || ranks.back() != sync->rank) ranks.push_back(sync->rank);
  return ranks;
}

void skip(const JobModel& model, const std::vector<const SyncAt*>& syncs, analyze::Scenario& scenario) {
  for (const SyncAt* sync : syncs) {
    scenario.is_skipped[model.row_index(sync->rank, sync->row)] = 1;
    const std::vector<analyze::SkeletonRow>& rows = model.job.ranks[sync->rank].rows();
    const u32 next = sync->row + 1;
    if (next >= rows.size() || !takes_along(*sync, rows[next])) continue;
    Ns& host = scenario.host[model.row_index(sync->rank, next)];
    host = std::min(host, rows[next].count + excess_at(model, sync->rank, next));
  }
}

}  // namespace spotter::diagnose
