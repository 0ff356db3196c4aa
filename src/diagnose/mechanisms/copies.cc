#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/sync_rows.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

// Where most of them are.
std::string usual_name(const JobModel& model, const std::vector<const SyncAt*>& syncs) {
  std::map<std::string, size_t> counts;
  for (const SyncAt* sync : syncs) ++counts[name_of(model, *sync)];
  return std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; })->first;
}

// One may be waited for in its own call, and again right behind it.
size_t copies_of(const JobModel& model, const std::vector<const SyncAt*>& syncs) {
  std::set<std::pair<u32, u32>> copies;
  for (const SyncAt* sync : syncs)
    copies.emplace(sync->rank, model.job.ranks[sync->rank].rows()[sync->row - 1].target);
  return copies.size();
}

std::vector<Candidate> find_candidates(const JobModel& model) {
  std::vector<const SyncAt*> syncs;
  for (const SyncAt& sync : model.syncs)
    if (sync.kind == analyze::Cause::copy) syncs.push_back(&sync);
  if (syncs.empty()) return {};
  Candidate c;
  c.ranks = ranks_of(syncs);
  c.subject = usual_name(model, syncs);
  c.what = fmt::format(
      "{} waits for its own copies from or to pageable memory, {} (in {}), and launches nothing meanwhile",
      host_of(model, c.ranks), times_text(times_a_step(model, copies_of(model, syncs), c.ranks)),
      render::short_name(c.subject, 56));
  c.is_named = true;  // the call ends with its copy
  c.undo = [&model, syncs](analyze::Scenario& s) {
    skip(model, syncs, s);
    // From pinned memory they run beside computation.
    for (const SyncAt* sync : syncs)
      s.is_skipped[model.row_index(sync->rank, model.job.ranks[sync->rank].rows()[sync->row - 1].target)] = 1;
  };
  return {std::move(c)};
}

}  // namespace

const Mechanism kCopies = {
    .name = "copies",
    .summary =
        "A call that copies takes far longer than launches do (four times their median and 20 µs) and ends with its copy: from and to pageable memory the host "
        "waits for it, while more of the step is still to be launched.",
    .remedy =
        "Copy from pinned memory with non_blocking=True (pin_memory=True of the loader), and bring results back at the step's end.",
    .evidence = "--table memory_bandwidth",
    .candidates = find_candidates,
};

}  // namespace spotter::diagnose
