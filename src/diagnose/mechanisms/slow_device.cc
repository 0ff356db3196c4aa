#include <algorithm>
#include <cmath>

#include "diagnose/mechanisms/device_rows.h"
#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

constexpr double kAlike = 0.25;  // how far the excess of ranks differs that are told as one
constexpr double kFleet = 0.03;  // devices of a fleet differ by that much without any being broken

std::string sentence(const JobModel& model, const std::vector<DeviceRow>& rows) {
  std::vector<u32> ranks;
  double excess = 0;
  for (const DeviceRow& row : rows) {
    ranks.push_back(row.rank);
    excess += row.mean_excess / static_cast<double>(rows.size());
  }
  const size_t peers = model.stages.ranks[model.stages.of[ranks[0]]].size() - ranks.size();
  const std::string stage =
      model.stages.is_pipeline() ? fmt::format(" of stage {}", model.stages.of[ranks[0]]) : "";
  return fmt::format("{} {} {} longer for the same work than {} {}", who(model, ranks),
                     ranks.size() == 1 ? "computes" : "compute", percent_of(excess),
                     peers == 0   ? "other stages"
                     : peers == 1 ? fmt::format("the other{}", stage)
                                  : fmt::format("the {} others{}", peers, stage),
                     when(model, ranks[0], rows[0].high));
}

Candidate candidate_of(const JobModel& model, const std::vector<DeviceRow>& rows) {
  Candidate c;
  Ns most = 0;
  for (const DeviceRow& row : rows) {
    c.ranks.push_back(row.rank);
    most += above_peers(model, row.rank, row.high);
  }
  c.most = most;
  std::ranges::sort(c.ranks);
  c.what = sentence(model, rows);
  if (rows[0].mean_excess < kFleet)
    c.against =
        fmt::format("devices of one fleet differ by up to {} without any being broken", percent_of(kFleet));
  c.undo = [&model, rows](analyze::Scenario& s) {
    for (const DeviceRow& row : rows) level(model, row.rank, row.high, s);
  };
  return c;
}

std::vector<Candidate> find_candidates(const JobModel& model) {
  std::vector<DeviceRow> slow;
  for (u32 r = 0; r < model.job.ranks.size(); ++r) {
    const DeviceRow row = device_row(model, r);
    const auto high = static_cast<double>(row.high.size());
    if (high == 0 || row.high[0] != 0 || high < kMostSteps * static_cast<double>(row.known)) continue;
    if (row.is_even(row.high)) slow.push_back(row);
  }
  std::ranges::sort(slow, {}, [](const DeviceRow& row) { return -row.mean_excess; });
  std::vector<std::vector<DeviceRow>> alike;
  for (DeviceRow& row : slow) {
    const auto fits = [&](const std::vector<DeviceRow>& group) {
      return model.stages.of[group[0].rank] == model.stages.of[row.rank] &&
             std::abs(group[0].mean_excess - row.mean_excess) <= kAlike * group[0].mean_excess;
    };
    const auto group = std::ranges::find_if(alike, fits);
    if (group == alike.end())
      alike.push_back({std::move(row)});
    else
      group->push_back(std::move(row));
  }
  std::vector<Candidate> all;
  for (const std::vector<DeviceRow>& group : alike) all.push_back(candidate_of(model, group));
  return all;
}

}  // namespace

const Mechanism kSlowDevice = {
    .name = "slow_device",
    .summary =
        "A rank's device takes longer for the same kernels than its peers' (the median of its stage): over 1 % and over six "
        "standard errors in 70 % of its steps or more, from the first on, evenly. More calls are uneven_work; a level that "
        "shifts within the recording is clock_drop.",
    .remedy =
        "Compare its clocks, power and temperature with its peers' (spotter metrics --metric 'gpu_*'): a power cap, cooling or another process "
        "on it may be why; if it is none of them, replace the device.",
    .evidence = "--table kernel_breakdown",
    .candidates = find_candidates,
};

}  // namespace spotter::diagnose
