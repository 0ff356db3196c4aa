#include <set>
#include <utility>

#include "base/saturated.h"
#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/pause_sums.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

// What it takes to fetch a batch that is ready: from a worker's queue, with its tensors' memory mapped.
constexpr Ns kFetch = 200'000;

// Some loaders give a batch at once and let wait for the next: a mean of both describes neither.
struct LongWaits {
  Ns mean = 0;
  size_t steps = 0;  // that have one, of a rank; 0: there are no such two kinds
};

LongWaits long_waits(const JobModel& model, const std::vector<RankPauses>& ranks, const PauseFacts& facts) {
  constexpr size_t kMostOfTen = 6;
  constexpr Ns kOfTen = 9;
  std::set<std::pair<u32, u32>> steps;  // of which rank
  size_t count = 0;
  Ns sum = 0;
  for (const RankPauses& rank : ranks)
    for (const PauseAt* pause : rank.pauses)
      if (pause->host > facts.host / static_cast<Ns>(facts.count)) {
        sum = add_saturated(sum, pause->host);
        steps.emplace(rank.rank, pause->step);
        ++count;
      }
  const size_t each = (steps.size() + ranks.size() / 2) / ranks.size();
  if (each == 0 || static_cast<i64>(each) >= model.steps || 10 * count > kMostOfTen * facts.count ||
      sum / kOfTen < facts.host / 10)
    return {};
  return {sum / static_cast<Ns>(count), each};
}

std::string remedy_of(const JobModel& model, bool are_some) {
  return fmt::format("Load with more workers (num_workers){}, or do less for each sample{}.",
                     model.evidence.has_device_work ? ", persistent_workers=True and pin_memory=True"
                                                    : " and persistent_workers=True",
                     are_some ? "; look at the storage and the processors of their host" : "");
}

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
  // There may be several waits in a step.
  const auto in_steps_of = [](const std::vector<RankPauses>& some) {
    Ns count = 0;
    for (const RankPauses& rank : some) count += std::ssize(rank.steps);
    return count;
  };
  const Ns mean = facts.host / in_steps_of(ranks);
  const bool are_some = ranks.size() < all.size();
  const LongWaits waits = c.steps.empty() ? long_waits(model, ranks, facts) : LongWaits{};
  const Ns shown = waits.steps > 0 ? waits.mean : mean;
  std::string where = "in each step";
  if (!c.steps.empty())
    where = fmt::format("in {} {}", c.steps.size() == 1 ? "step" : "steps", steps_text(c.steps));
  else if (waits.steps > 0)
    where = fmt::format("in {} of {} steps", waits.steps, model.steps);
  const bool is_one = c.ranks.size() == 1 || are_all(model, c.ranks);
  c.what = fmt::format("{} {} {} for {} next batch {}", who(model, c.ranks), is_one ? "waits" : "wait",
                       human(shown), is_one ? "its" : "their", where);
  if (are_some) {
    const Ns others = in_steps_of(all) - in_steps_of(ranks);
    c.what += fmt::format(", the others {}", human(others == 0 ? 0 : (everybody.host - facts.host) / others));
  }
  if (!are_some && shown <= kFetch) {
    c.is_opportunity = true;
    c.against = "a batch that is ready takes as long to fetch: larger batches make it count for less";
  }
  c.is_named = true;
  c.remedy = remedy_of(model, are_some);
  c.undo = [&model, ranks](analyze::Scenario& s) { end_pauses(model, ranks, s); };
  return {std::move(c)};
}

}  // namespace

const Mechanism kDataLoading = {
    .name = "data_loading",
    .summary =
        "The host is in enumerate(DataLoader)#... or enumerate(DataPipe)#... and launches nothing. Ranks that stand out (three times the median and 0.3 % of "
        "the step) are told, else all; of all alike up to 0.2 ms, which fetching a batch takes that is ready, is an opportunity.",
    .remedy = "",  // each has its own
    .evidence = "--table step_breakdown",
    .candidates = find_candidates,
};

}  // namespace spotter::diagnose
