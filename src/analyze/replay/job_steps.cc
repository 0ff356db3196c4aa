#include "analyze/replay/job_steps.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>

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

}  // namespace

void align_steps(JobProgram& job) {
  const std::vector<u32> missed = steps_missed(job);
  const auto number_of = [&](const RankProgram& rank, u32 s) {
    return rank.step_numbers[s] + missed[static_cast<size_t>(&rank - job.ranks.data())];
  };
  const RankProgram* longest = nullptr;
  std::vector<i64> numbers;
  for (const RankProgram& rank : job.ranks) {
    if (longest == nullptr || rank.steps() > longest->steps()) longest = &rank;
    for (u32 s = 0; s < rank.steps(); ++s) numbers.push_back(number_of(rank, s));
  }
  if (longest == nullptr) return;
  std::ranges::sort(numbers);
  const auto repeated = std::ranges::unique(numbers);
  numbers.erase(repeated.begin(), repeated.end());
  const bool by_number =
      std::ranges::all_of(job.ranks, ascends) && numbers.size() <= 2 * size_t{longest->steps()};
  job.step_numbers = by_number ? numbers : longest->step_numbers;
  for (RankProgram& rank : job.ranks) {
    rank.job_steps.resize(rank.steps());
    std::iota(rank.job_steps.begin(), rank.job_steps.end(), 0u);
    if (!by_number) continue;
    for (u32 s = 0; s < rank.steps(); ++s) {
      const auto at = std::ranges::lower_bound(numbers, number_of(rank, s));
      rank.job_steps[s] = static_cast<u32>(at - numbers.begin());
    }
  }
}

}  // namespace spotter::analyze
