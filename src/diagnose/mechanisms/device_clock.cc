#include <algorithm>

#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/words.h"
#include "diagnose/model/launches.h"

namespace spotter::diagnose {
namespace {

std::vector<Candidate> find_candidates(const JobModel& model) {
  Candidate c;
  Ns late = 0;
  double early = 0;
  for (u32 r = 0; r < model.job.ranks.size(); ++r) {
    const Launches& launches = model.launches[r];
    if (!launches.disagree()) continue;
    c.ranks.push_back(r);
    late = std::max(late, launches.late);
    if (launches.runs > 0)
      early = std::max(early, static_cast<double>(launches.early) / static_cast<double>(launches.runs));
  }
  if (c.ranks.empty()) return {};
  const std::string whose =
      is_single(model) ? "The device" : "The device of " + lower_first(who(model, c.ranks));
  c.what = late <= Launches::kMostLate
               ? fmt::format(
                     "{} began {} of its work before it was launched: the clocks of host and device "
                     "disagree, and nothing is told of launches",
                     whose, percent_of(early))
               : fmt::format(
                     "{} began its first work {} after it was launched: it was busy with what was not "
                     "recorded, or the clocks of host and device disagree, and nothing is told of launches",
                     whose, human(late));
  c.is_caveat = true;
  c.is_certain = true;
  return {std::move(c)};
}

}  // namespace

const Mechanism kDeviceClock = {
    .name = "device_clock",
    .summary =
        "Of the runs of kernels that were launched over 10 % began no later than their first launch, or the first of all began over 1 ms after it, though the device had "
        "nothing to do: the clocks of host and device disagree, or work is missing.",
    .remedy = "",
    .evidence = "--table kernel_launch_stats",
    .candidates = find_candidates,
};

}  // namespace spotter::diagnose
