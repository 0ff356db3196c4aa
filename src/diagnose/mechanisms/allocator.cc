#include <algorithm>
#include <set>

#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/pause_sums.h"
#include "diagnose/mechanisms/sync_rows.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

std::vector<Candidate> candidates(const JobModel& model) {
  const auto all =
      pauses_by_rank(model, [](const PauseAt& p) { return p.kind == analyze::Pause::allocation; });
  std::vector<const SyncAt*> syncs;
  for (const SyncAt& sync : model.syncs)
    if (sync.kind == analyze::Pause::allocation) syncs.push_back(&sync);
  std::set<u32> ranks, steps;
  i64 calls = static_cast<i64>(syncs.size());
  for (const RankPauses& rank : all) {
    ranks.insert(rank.rank);
    steps.insert(rank.steps.begin(), rank.steps.end());
    calls += static_cast<i64>(rank.pauses.size());
  }
  for (const SyncAt* sync : syncs) {
    ranks.insert(sync->rank);
    steps.insert(sync->step);
  }
  // While memory is taken for the first time that is as it should be.
  if (steps.empty() || (model.steps > 1 && *steps.rbegin() == 0)) return {};
  Candidate c;
  c.ranks = {ranks.begin(), ranks.end()};
  c.what = fmt::format(
      "{} {} device memory from the driver and {} it back within the steps, {:.1f} times a step: the allocator's cache is "
      "too small for what the step holds, and cudaFree waits for the device",
      who(model, c.ranks), ranks.size() == 1 || are_all(model, c.ranks) ? "takes" : "take",
      ranks.size() == 1 || are_all(model, c.ranks) ? "gives" : "give",
      static_cast<double>(calls) / static_cast<double>(ranks.size()) /
          static_cast<double>(std::max<i64>(1, model.steps)));
  c.is_confirmed = true;
  c.undo = [&model, all, syncs](analyze::Scenario& s) {
    end_pauses(model, all, s);
    skip(model, syncs, s);
    for (const SyncAt* sync : syncs) s.host[model.row_index(sync->rank, sync->row)] = 0;
  };
  return {std::move(c)};
}

}  // namespace

const Mechanism kAllocator = {
    .name = "allocator",
    .summary =
        "Calls of the device's allocator (cudaMalloc, cudaFree, cuMem...) within steps other than the first.",
    .remedy =
        "Hold less: a smaller batch, activation checkpointing, or PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True against "
        "fragmentation; see --table memory_at_peak.",
    .evidence = "--table memory_timeline",
    .candidates = candidates,
};

}  // namespace spotter::diagnose
