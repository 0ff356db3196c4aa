#include "analyze/replay/job_steps.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>

namespace spotter::analyze {
namespace {

bool ascends(const RankProgram& rank) {
  return std::ranges::adjacent_find(rank.step_numbers, std::greater_equal<>()) == rank.step_numbers.end();
}

Ns end_of(const RankProgram& rank, u32 step) { return rank.at(rank.step_rows[step + 1]); }

// Steps that optimizers end are counted from a recording's begin on. Where some ranks' began a step later
// than others', a step of theirs is the one that ended at its time. Of hosts whose clocks are further apart
// than a part of a step nothing is known: 0.
u32 steps_missed(const RankProgram& rank, const RankProgram& first) {
  constexpr i64 kPart = 4;
  if (rank.steps() == 0) return 0;
  u32 best = 0;
  const auto apart = [&](u32 s) { return std::abs(end_of(first, s) - end_of(rank, 0)); };
  for (u32 s = 1; s < first.steps(); ++s)
    if (apart(s) < apart(best)) best = s;
  const Ns step = (end_of(first, first.steps() - 1) - first.at(first.step_rows[0])) / first.steps();
  return apart(best) <= step / kPart ? best : 0;
}

std::vector<u32> steps_missed(const JobProgram& job) {
  std::vector<u32> missed(job.ranks.size());
  const auto is_by_optimizer = [](const RankProgram& r) { return r.are_by_optimizer && r.steps() > 0; };
  if (job.ranks.size() < 2 || !std::ranges::all_of(job.ranks, is_by_optimizer)) return missed;
  const RankProgram& first =
      *std::ranges::min_element(job.ranks, {}, [](const RankProgram& r) { return end_of(r, 0); });
  for (size_t r = 0; r < job.ranks.size(); ++r) missed[r] = steps_missed(job.ranks[r], first);
  return missed;
}

// Those whose steps are marked as most ranks' are: ended by optimizers, or numbered by the program.
std::vector<const RankProgram*> usually_marked(const JobProgram& job) {
  const bool by_optimizer =
      2 * std::ranges::count_if(job.ranks, &RankProgram::are_by_optimizer) > std::ssize(job.ranks);
  std::vector<const RankProgram*> ranks;
  for (const RankProgram& rank : job.ranks)
    if (rank.steps() > 0 && rank.are_by_optimizer == by_optimizer) ranks.push_back(&rank);
  return ranks;
}

using Numbers = std::vector<i64>;

// Without those who share no number with most: who has the number that most have, or one that these have.
void keep_shared(std::vector<const RankProgram*>& ranks,
                 const std::function<Numbers(const RankProgram&)>& numbers_of) {
  std::map<i64, size_t> count;
  for (const RankProgram* rank : ranks)
    for (const i64 number : numbers_of(*rank)) ++count[number];
  if (count.empty()) return;
  const i64 usual = std::ranges::max_element(count, {}, [](const auto& c) { return c.second; })->first;
  std::set<i64> shared;
  for (const RankProgram* rank : ranks)
    if (const Numbers own = numbers_of(*rank); std::ranges::find(own, usual) != own.end())
      shared.insert(own.begin(), own.end());
  std::erase_if(ranks, [&](const RankProgram* rank) {
    return std::ranges::none_of(numbers_of(*rank), [&](i64 number) { return shared.contains(number); });
  });
}

}  // namespace

void align_steps(JobProgram& job) {
  const std::vector<u32> missed = steps_missed(job);
  const auto numbers_of = [&](const RankProgram& rank) {
    Numbers numbers = rank.step_numbers;
    for (i64& number : numbers) number += missed[static_cast<size_t>(&rank - job.ranks.data())];
    return numbers;
  };
  const auto longest = std::ranges::max_element(job.ranks, {}, &RankProgram::steps);
  if (longest == job.ranks.end()) return;
  std::vector<const RankProgram*> marked = usually_marked(job);
  keep_shared(marked, numbers_of);
  std::set<i64> all;
  u32 most = 0;
  for (const RankProgram* rank : marked) {
    const Numbers own = numbers_of(*rank);
    all.insert(own.begin(), own.end());
    most = std::max(most, rank->steps());
  }
  const Numbers numbers(all.begin(), all.end());
  const bool by_number = !numbers.empty() && numbers.size() <= 2 * size_t{most} &&
                         std::ranges::all_of(marked, [](const RankProgram* rank) { return ascends(*rank); });
  job.step_numbers = by_number ? numbers : longest->step_numbers;
  const u32 last = job.step_numbers.empty() ? 0 : static_cast<u32>(job.step_numbers.size() - 1);
  for (RankProgram& rank : job.ranks) {
    rank.job_steps.clear();
    const bool has_numbers = by_number && std::ranges::find(marked, &rank) != marked.end();
    const Numbers own = numbers_of(rank);
    for (u32 s = 0; s < rank.steps(); ++s)
      rank.job_steps.push_back(
          has_numbers ? static_cast<u32>(std::ranges::lower_bound(numbers, own[s]) - numbers.begin())
                      : std::min(s, last));
  }
}

}  // namespace spotter::analyze
