#include <algorithm>
#include <map>

#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/sync_rows.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

Candidate candidate_of(const JobModel& model, const std::string& name,
                       const std::vector<const SyncAt*>& syncs) {
  Candidate c;
  c.ranks = ranks_of(syncs);
  c.subject = name;
  c.what = fmt::format(
      "{} waits for the device within the step, {}{}, and the device then has nothing to do until the "
      "host has launched again",
      host_of(model, c.ranks), times_text(times_a_step(model, syncs.size(), c.ranks)),
      name.empty() ? "" : " in " + render::short_name(name, 56));
  c.is_named = true;
  c.undo = [&model, syncs](analyze::Scenario& s) { skip(model, syncs, s); };
  return c;
}

std::vector<Candidate> find_candidates(const JobModel& model) {
  std::map<std::string, std::vector<const SyncAt*>> by_name;
  for (const SyncAt& sync : model.syncs)
    if (sync.kind == analyze::Cause::none) by_name[name_of(model, sync)].push_back(&sync);
  std::vector<Candidate> all;
  for (const auto& [name, syncs] : by_name) all.push_back(candidate_of(model, name, syncs));
  return all;
}

}  // namespace

const Mechanism kHostSync = {
    .name = "host_sync",
    .summary =
        "The host waits for its device (cudaStreamSynchronize and its like) and launches more in the same step: the wait itself, and the "
        "time behind it that no operator covers, as far as it is usual at that place. The loop's own wait at the step's end does not count, nor what waits for its copy (copies).",
    .remedy =
        "Keep numbers on the device until the step's end: no .item(), .cpu(), .tolist(), print or if on tensors within it; copy with "
        "non_blocking=True; torch.cuda.set_sync_debug_mode(1) names the lines.",
    .evidence = "--table call_tree",
    .candidates = find_candidates,
};

}  // namespace spotter::diagnose
