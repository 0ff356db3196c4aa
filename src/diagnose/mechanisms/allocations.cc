#include "diagnose/mechanisms/allocations.h"

#include <algorithm>
#include <set>

#include "diagnose/mechanisms/pause_sums.h"
#include "diagnose/mechanisms/sync_rows.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

double held_by(const JobModel& model, u32 r) {
  const auto held = model.evidence.memory_held.find(model.job.ranks[r].rank.value_or(-1));
  return held == model.evidence.memory_held.end() ? 0 : held->second;
}

}  // namespace

std::optional<Allocations> allocations(const JobModel& model, bool is_full) {
  const auto counts = [&](u32 r) { return (held_by(model, r) >= kFull) == is_full; };
  const auto is_one = [&](analyze::Cause kind, u32 rank) {
    return kind == analyze::Cause::allocation && counts(rank);
  };
  // In its first step a job takes what it needs from then on: that counts where the others have as much.
  i64 first = 0, later = 0;
  for (const PauseAt& p : model.pauses)
    if (is_one(p.kind, p.rank)) ++(p.step == 0 ? first : later);
  for (const SyncAt& sync : model.syncs)
    if (is_one(sync.kind, sync.rank)) ++(sync.step == 0 ? first : later);
  const bool is_warm_up = model.steps > 1 && first * (model.steps - 1) > 2 * later;
  const auto is_later = [&](u32 step) { return step > 0 || !is_warm_up; };
  const auto all =
      pauses_by_rank(model, [&](const PauseAt& p) { return is_one(p.kind, p.rank) && is_later(p.step); });
  std::vector<const SyncAt*> syncs;
  for (const SyncAt& sync : model.syncs)
    if (is_one(sync.kind, sync.rank) && is_later(sync.step)) syncs.push_back(&sync);
  std::set<u32> ranks;
  std::set<i64> steps;  // their numbers
  size_t calls = syncs.size();
  for (const RankPauses& rank : all) {
    ranks.insert(rank.rank);
    for (const u32 step : rank.steps) steps.insert(model.step_number(rank.rank, step));
    calls += rank.pauses.size();
  }
  for (const SyncAt* sync : syncs) {
    ranks.insert(sync->rank);
    steps.insert(model.step_number(sync->rank, sync->step));
  }
  if (steps.empty()) return {};
  Allocations found;
  Candidate& c = found.candidate;
  c.ranks = {ranks.begin(), ranks.end()};
  if (2 * std::ssize(steps) < model.steps) c.steps = {steps.begin(), steps.end()};
  for (const u32 r : c.ranks) found.held = std::max(found.held, held_by(model, r));
  const double calls_a_step = times_a_step(model, calls, c.ranks);
  found.calls = c.steps.empty()
                    ? calls_text(calls_a_step) + " a step"
                    : fmt::format("{} in {} {}", calls_text(calls_a_step * static_cast<double>(model.steps)),
                                  c.steps.size() == 1 ? "step" : "steps", steps_text(c.steps));
  c.is_named = true;
  c.undo = [&model, all, syncs](analyze::Scenario& s) {
    end_pauses(model, all, s);
    skip(model, syncs, s);
    for (const SyncAt* sync : syncs) s.host[model.row_index(sync->rank, sync->row)] = 0;
  };
  return found;
}

}  // namespace spotter::diagnose
