#include <algorithm>
#include <map>
#include <optional>

#include "base/saturated.h"
#include "diagnose/mechanisms/device_rows.h"
#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/uneven.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

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
  for (const auto& [steps, slow] : ranks_by_steps) {
    double excess = 0;
    Ns most = 0;
    Candidate c;
    for (const DeviceRow& one : slow) {
      excess += one.mean_excess / static_cast<double>(slow.size());
      most = add_saturated(most, above_peers(model, one, one.high));
      c.ranks.push_back(one.rank);
    }
    c.steps = steps;
    c.most = most;
    const bool is_one = steps.size() == 1, is_one_rank = slow.size() == 1;
    const std::string whose =
        model.job.ranks.size() == 1
            ? ""
            : fmt::format(" of rank{} {}", is_one_rank ? "" : "s", ranks_text(model, c.ranks));
    c.what = fmt::format("{} {}{} {} {:.1f} times what the same work takes in the others",
                         is_one ? "Step" : "Steps", steps_text(c.steps), whose, is_one ? "takes" : "take",
                         1 + excess);
    c.undo = [&model, slow](analyze::Scenario& s) {
      for (const DeviceRow& one : slow) level(model, one, one.high, s);
    };
    all.push_back(std::move(c));
  }
  return all;
}

}  // namespace

const Mechanism kLongStep = {
    .name = "long_step",
    .summary =
        "In a fifth of a rank's steps or less, and at least one of three, its device takes longer for the same kernels than its peers' and "
        "its own in other steps (as slow_device measures it), where work is uneven beyond what that explains. A pause or a wait for data in so few steps keeps its own name.",
    .remedy = "Look at these steps alone, and at what else ran on the device and host then.",
    .evidence = "--table steps",
    .candidates = find_candidates,
};

}  // namespace spotter::diagnose
