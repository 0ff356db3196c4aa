#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/saturated.h"
#include "diagnose/mechanisms/alike.h"
#include "diagnose/mechanisms/device_rows.h"
#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/uneven.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

double mean_excess(const std::vector<DeviceRow>& slow) {
  double excess = 0;
  for (const DeviceRow& one : slow) excess += one.mean_excess / static_cast<double>(slow.size());
  return excess;
}

Candidate of_ranks(const JobModel& model, std::vector<DeviceRow> slow) {
  Candidate c;
  c.most = 0;
  std::set<i64> steps;
  for (const DeviceRow& one : slow) {
    c.most = add_saturated(c.most, above_peers(model, one, one.high));
    c.ranks.push_back(one.rank);
    const std::vector<i64> numbers = step_numbers(model, one.rank, one.high);
    steps.insert(numbers.begin(), numbers.end());
  }
  std::ranges::sort(c.ranks);
  c.steps.assign(steps.begin(), steps.end());
  c.undo = [&model, slow = std::move(slow)](analyze::Scenario& s) {
    for (const DeviceRow& one : slow) level(model, one, one.high, s);
  };
  return c;
}

// Ranks that are slow in the same steps.
Candidate of_steps(const JobModel& model, const std::vector<DeviceRow>& slow) {
  Candidate c = of_ranks(model, slow);
  const bool is_one = c.steps.size() == 1;
  const std::string whose =
      model.job.ranks.size() == 1
          ? ""
          : fmt::format(" of rank{} {}", c.ranks.size() == 1 ? "" : "s", ranks_text(model, c.ranks));
  c.what =
      fmt::format("{} {}{} {} {:.1f} times what the same work takes in the others", is_one ? "Step" : "Steps",
                  steps_text(c.steps), whose, is_one ? "takes" : "take", 1 + mean_excess(slow));
  return c;
}

// Single ranks, each in steps of its own and by about as much: what makes them slow goes from one to the
// next. Then they are half of the ranks or more, or more than three that are slow in half of the steps.
bool go_round(const JobModel& model, const std::vector<DeviceRow>& slow) {
  constexpr size_t kSeveral = 3;
  std::set<u32> steps;
  for (const DeviceRow& one : slow)
    for (const u32 s : one.high) steps.insert(model.job.ranks[one.rank].job_steps[s]);
  const double mean = mean_excess(slow);
  return slow.size() >= kSeveral &&
         (2 * slow.size() >= model.job.ranks.size() ||
          (slow.size() > kSeveral && 2 * std::ssize(steps) >= model.steps)) &&
         std::ranges::all_of(slow, [&](const DeviceRow& one) { return are_alike(mean, one.mean_excess); });
}

Candidate of_round(const JobModel& model, const std::vector<DeviceRow>& slow) {
  Candidate c = of_ranks(model, slow);
  c.what = fmt::format(
      "One rank after another ({}) takes {:.1f} times what the same work takes on the others, in steps {}",
      analyze::range_text(rank_numbers(model, c.ranks)), 1 + mean_excess(slow), steps_text(c.steps));
  c.remedy =
      "It is no single device: look for what goes from rank to rank, such as long samples, or what else runs on the hosts.";
  return c;
}

std::vector<Candidate> find_candidates(const JobModel& model) {
  std::map<std::vector<i64>, std::vector<DeviceRow>> ranks_by_steps;  // by the steps' numbers
  const std::vector<RankShift> shifts = level_shifts(model).of_ranks;
  for (const std::vector<u32>& stage : comparable_ranks(model)) {
    const std::optional<double> limit =
        varying_ranks(model, stage, shifts).empty() ? std::nullopt : std::optional(outer_limit(model, stage));
    for (const u32 r : stage) {
      DeviceRow row = device_row(model, r);
      if (limit) std::erase_if(row.high, [&](u32 s) { return model.cells.at(r, s).factor <= *limit; });
      row.mean_excess = row.mean(row.high);
      if (is_of_few_steps(row)) ranks_by_steps[step_numbers(model, r, row.high)].push_back(std::move(row));
    }
  }
  std::vector<Candidate> all;
  std::vector<DeviceRow> single;
  for (const auto& [steps, slow] : ranks_by_steps) {
    if (slow.size() == 1)
      single.push_back(slow[0]);
    else
      all.push_back(of_steps(model, slow));
  }
  if (go_round(model, single))
    all.push_back(of_round(model, single));
  else
    for (const DeviceRow& one : single) all.push_back(of_steps(model, {one}));
  return all;
}

}  // namespace

const Mechanism kLongStep = {
    .name = "long_step",
    .summary =
        "In a fifth of a rank's steps or less, and at least one of three, its device takes longer for the same kernels than its peers' and "
        "its own in other steps (as slow_device measures it), where work is uneven beyond what that explains. Of half of the ranks, or of more than three in half of the steps, single ranks that are slow in steps of their own by about as much are one thing. A pause or a wait for data in so few steps keeps its own name.",
    .remedy = "Look at these steps alone, and at what else ran on the device and host then.",
    .evidence = "--table steps",
    .candidates = find_candidates,
};

}  // namespace spotter::diagnose
