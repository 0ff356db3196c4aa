#include "diagnose/mechanisms/words.h"

#include <numeric>

namespace spotter::diagnose {

std::set<i64> rank_numbers(const JobModel& model, const std::vector<u32>& ranks) {
  std::set<i64> numbers;
  for (const u32 r : ranks)
    if (model.job.ranks[r].rank) numbers.insert(*model.job.ranks[r].rank);
  return numbers;
}

std::vector<u32> all_ranks(const JobModel& model) {
  std::vector<u32> ranks(model.job.ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0u);
  return ranks;
}

std::string ranks_text(const JobModel& model, const std::vector<u32>& ranks) {
  return analyze::range_text(rank_numbers(model, ranks));
}

std::vector<i64> few_ranks(const JobModel& model, const std::vector<u32>& ranks) {
  constexpr size_t kFew = 8;
  std::vector<i64> numbers;
  for (const u32 r : ranks)
    if (numbers.size() < kFew && model.job.ranks[r].rank) numbers.push_back(*model.job.ranks[r].rank);
  return numbers;
}

std::string steps_text(const std::vector<i64>& steps) {
  return analyze::range_text(std::set<i64>(steps.begin(), steps.end()));
}

std::string who(const JobModel& model, const std::vector<u32>& ranks) {
  if (is_single(model)) return "The job";
  if (is_whole_job(model, ranks)) return "Every rank";
  const std::string numbers = ranks_text(model, ranks);
  if (numbers.empty()) return "A file without a rank";
  const std::string& host = model.job.ranks[ranks[0]].host;
  bool is_one_host = !host.empty();
  for (const u32 r : ranks) is_one_host &= model.job.ranks[r].host == host;
  if (ranks.size() > 1 && are_all(model, ranks))
    return fmt::format("Every traced rank ({}{})", numbers, is_one_host ? ", host " + host : "");
  return fmt::format("{} {}{}", ranks.size() == 1 ? "Rank" : "Ranks", numbers,
                     is_one_host ? fmt::format(" (host {})", host) : "");
}

std::vector<i64> step_numbers(const JobModel& model, u32 rank, const std::vector<u32>& steps) {
  std::vector<i64> numbers;
  for (const u32 s : steps) numbers.push_back(model.step_number(rank, s));
  return numbers;
}

std::string when(const JobModel& model, u32 rank, const std::vector<u32>& steps) {
  if (steps.size() == model.job.ranks[rank].steps())
    return steps.size() == 1 ? "in the step" : fmt::format("in all {} steps", steps.size());
  return fmt::format("in {} {}", steps.size() == 1 ? "step" : "steps",
                     steps_text(step_numbers(model, rank, steps)));
}

}  // namespace spotter::diagnose
