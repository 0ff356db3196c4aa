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

constexpr size_t kLeastSteps = 3;  // else there is no other to compare with

struct Slow {
  u32 rank;
  std::vector<u32> steps;  // of the rank
};

std::vector<Candidate> find_candidates(const JobModel& model) {
  std::map<std::vector<i64>, std::vector<Slow>> ranks_by_steps;  // by the steps' numbers
  for (const std::vector<u32>& stage : comparable_ranks(model)) {
    const std::optional<double> limit =
        varying_ranks(model, stage).empty() ? std::nullopt : std::optional(outer_limit(model, stage));
    for (const u32 r : stage) {
      DeviceRow row = device_row(model, r);
      if (limit) std::erase_if(row.high, [&](u32 s) { return model.cells.at(r, s).factor <= *limit; });
      const auto few = std::max<size_t>(1, static_cast<size_t>(kFewSteps * static_cast<double>(row.known)));
      if (row.known >= kLeastSteps && !row.high.empty() && row.high.size() <= few)
        ranks_by_steps[step_numbers(model, r, row.high)].push_back({r, row.high});
    }
  }
  std::vector<Candidate> all;
  for (const auto& [steps, slow] : ranks_by_steps) {
    double excess = 0;
    Ns most = 0;
    Candidate c;
    for (const Slow& one : slow) {
      excess += device_row(model, one.rank).mean(one.steps) / static_cast<double>(slow.size());
      most = add_saturated(most, above_peers(model, one.rank, one.steps));
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
      for (const Slow& one : slow) level(model, one.rank, one.steps, s);
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
