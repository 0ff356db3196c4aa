#include "analyze/replay/job_steps.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace spotter::analyze {
namespace {

bool ascends(const RankProgram& rank) {
  return std::ranges::adjacent_find(rank.step_numbers, std::greater_equal<>()) == rank.step_numbers.end();
}

}  // namespace

void align_steps(JobProgram& job) {
  const RankProgram* longest = nullptr;
  std::vector<i64> numbers;
  for (const RankProgram& rank : job.ranks) {
    if (longest == nullptr || rank.steps() > longest->steps()) longest = &rank;
    numbers.insert(numbers.end(), rank.step_numbers.begin(), rank.step_numbers.end());
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
      const auto at = std::ranges::lower_bound(numbers, rank.step_numbers[s]);
      rank.job_steps[s] = static_cast<u32>(at - numbers.begin());
    }
  }
}

}  // namespace spotter::analyze
