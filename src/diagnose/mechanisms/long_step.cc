#include <algorithm>
#include <map>

#include "base/saturated.h"
#include "diagnose/mechanisms/device_rows.h"
#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/uneven.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

constexpr double kFewSteps = 0.2;
constexpr size_t kLeastSteps = 3;  // else there is no other to compare with

std::vector<Candidate> candidates(const JobModel& model) {
  std::map<std::vector<u32>, std::vector<u32>> ranks_by_steps;
  for (const std::vector<u32>& stage : model.stages.ranks) {
    if (!varying_ranks(model, stage).empty()) continue;
    for (const u32 r : stage) {
      const DeviceRow row = device_row(model, r);
      const auto few = std::max<size_t>(1, static_cast<size_t>(kFewSteps * static_cast<double>(row.known)));
      if (row.known >= kLeastSteps && !row.high.empty() && row.high.size() <= few)
        ranks_by_steps[row.high].push_back(r);
    }
  }
  std::vector<Candidate> all;
  for (const auto& [steps, ranks] : ranks_by_steps) {
    double excess = 0;
    for (const u32 r : ranks) excess += device_row(model, r).mean(steps) / static_cast<double>(ranks.size());
    Candidate c;
    c.ranks = ranks;
    c.steps = step_numbers(model, ranks[0], steps);
    const bool is_one = steps.size() == 1;
    const std::string whose =
        model.job.ranks.size() == 1
            ? ""
            : fmt::format(" of rank{} {}", ranks.size() == 1 ? "" : "s", ranks_text(model, ranks));
    c.what = fmt::format("{} {}{} {} {:.1f} times what the same work takes in the others",
                         is_one ? "Step" : "Steps", steps_text(c.steps), whose, is_one ? "takes" : "take",
                         1 + excess);
    c.is_confirmed = ranks.size() == 1 &&
                     static_cast<double>(model.lateness(ranks[0])) * 2 * static_cast<double>(model.steps) >=
                         excess * static_cast<double>(device_row(model, ranks[0]).mean_device) *
                             static_cast<double>(steps.size());
    Ns most = 0;
    for (const u32 r : ranks) most = add_saturated(most, above_peers(model, r, steps));
    c.most = most;
    c.undo = [&model, slow = ranks, when = steps](analyze::Scenario& s) {
      for (const u32 r : slow) level(model, r, when, s);
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
        "its own in other steps (as slow_device measures it). A pause or a wait for data in so few steps keeps its own name.",
    .remedy = "Look at these steps alone, and at what else ran on the device and host then.",
    .evidence = "--table steps",
    .candidates = candidates,
};

}  // namespace spotter::diagnose
