#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/pause_sums.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

// What it takes to fetch a batch that is ready: from a worker's queue, with its tensors' memory mapped.
constexpr Ns kFetch = 200'000;

std::vector<Candidate> find_candidates(const JobModel& model) {
  const auto all =
      pauses_by_rank(model, [](const PauseAt& p) { return p.kind == analyze::Cause::data_loading; });
  if (all.empty()) return {};
  std::vector<RankPauses> ranks = standing_out(model, all);
  const std::vector<i64> steps = few_steps(model, ranks);
  ranks = in_steps(model, std::move(ranks), steps);
  const PauseFacts facts = facts_of(model, ranks), everybody = facts_of(model, all);
  Candidate c;
  c.ranks = ranks_of(ranks);
  c.steps = steps;
  c.subject = facts.first.name;
  const Ns mean = facts.host / static_cast<Ns>(facts.count);
  const bool are_some = ranks.size() < all.size();
  c.what = fmt::format("{} {} {} for {} next batch{}", who(model, c.ranks),
                       c.ranks.size() == 1 || are_all(model, c.ranks) ? "waits" : "wait", human(mean),
                       c.ranks.size() == 1 || are_all(model, c.ranks) ? "its" : "their",
                       c.steps.empty() ? " in each step"
                                       : fmt::format(" in {} {}", c.steps.size() == 1 ? "step" : "steps",
                                                     steps_text(c.steps)));
  if (are_some) {
    const size_t others = everybody.count - facts.count;
    c.what += fmt::format(", the others {}",
                          human(others == 0 ? 0 : (everybody.host - facts.host) / static_cast<Ns>(others)));
  }
  if (!are_some && mean <= kFetch) {
    c.is_opportunity = true;
    c.against = "a batch that is ready takes as long to fetch: larger batches make it count for less";
  }
  c.is_named = true;
  c.undo = [&model, ranks](analyze::Scenario& s) { end_pauses(model, ranks, s); };
  return {std::move(c)};
}

}  // namespace

const Mechanism kDataLoading = {
    .name = "data_loading",
    .summary =
        "The host is in enumerate(DataLoader)#... or enumerate(DataPipe)#... and launches nothing. Ranks that stand out (three times the median and 0.3 % of "
        "the step) are told, else all; of all alike up to 0.2 ms, which fetching a batch takes that is ready, is an opportunity.",
    .remedy =
        "Load with more workers (num_workers), persistent_workers=True and pin_memory=True, or do less for each sample; "
        "of single ranks look at their host's storage and processors.",
    .evidence = "--table step_breakdown",
    .candidates = find_candidates,
};

}  // namespace spotter::diagnose
