#include <algorithm>
#include <functional>
#include <iterator>
#include <set>

#include "base/saturated.h"
#include "diagnose/mechanisms/alike.h"
#include "diagnose/mechanisms/device_rows.h"
#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/uneven.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

constexpr double kFleet = 0.03;  // devices of a fleet differ by that much without any being broken

// "15 %", of steps that differ "10-40 %".
std::string longer(const std::vector<DeviceRow>& rows, bool is_steady) {
  double mean = 0, least = rows[0].excess[rows[0].high[0]], most = least;
  for (const DeviceRow& row : rows) {
    mean += row.mean_excess / static_cast<double>(rows.size());
    for (const u32 s : row.high) least = std::min(least, row.excess[s]), most = std::max(most, row.excess[s]);
  }
  const std::string from = fmt::format("{:.0f}", 100 * least), to = fmt::format("{:.0f}", 100 * most);
  return is_steady || from == to ? percent_of(mean) : fmt::format("{}-{} %", from, to);
}

std::string when_slow(const JobModel& model, const DeviceRow& row, bool is_steady) {
  return is_steady || row.high.size() == row.known
             ? when(model, row.rank, row.high)
             : fmt::format("in {} of {} steps", row.high.size(), row.known);
}

// Of these ranks and of the others of their stage, where each have one; else empty.
struct Devices {
  std::string own, others;
  bool differ() const { return !own.empty() && !others.empty() && own != others; }
};

Devices devices_of(const JobModel& model, const std::vector<u32>& ranks) {
  std::set<std::string_view> own, others;
  for (const u32 r : model.stages.ranks[model.stages.of[ranks[0]]])
    (std::ranges::binary_search(ranks, r) ? own : others).insert(model.job.ranks[r].device_name());
  if (own.size() != 1 || others.size() != 1) return {};
  return {std::string(*own.begin()), std::string(*others.begin())};
}

std::string sentence(const JobModel& model, const std::vector<DeviceRow>& rows, bool is_steady) {
  std::vector<u32> ranks;
  for (const DeviceRow& row : rows) ranks.push_back(row.rank);
  std::ranges::sort(ranks);
  const size_t peers = model.stages.ranks[model.stages.of[ranks[0]]].size() - ranks.size();
  const std::string stage =
      model.stages.is_pipeline() ? fmt::format(" of stage {}", model.stages.of[ranks[0]]) : "";
  const Devices devices = devices_of(model, ranks);
  return fmt::format(
      "{} {} {} longer for the same work than {} {}{}", who(model, ranks),
      ranks.size() == 1 ? "computes" : "compute", longer(rows, is_steady),
      peers == 0   ? "other stages"
      : peers == 1 ? fmt::format("the other{}", stage)
                   : fmt::format("the {} others{}", peers, stage),
      when_slow(model, rows[0], is_steady),
      devices.differ() ? fmt::format(", on {} where they have {}", devices.own, devices.others) : "");
}

Candidate candidate_of(const JobModel& model, const std::vector<DeviceRow>& rows, bool is_steady) {
  Candidate c;
  Ns most = 0;
  for (const DeviceRow& row : rows) {
    c.ranks.push_back(row.rank);
    most = add_saturated(most, above_peers(model, row, row.high));
  }
  c.most = most;
  std::ranges::sort(c.ranks);
  if (rows[0].high.size() < rows[0].known && !is_steady)
    c.steps = step_numbers(model, rows[0].rank, rows[0].high);
  c.what = sentence(model, rows, is_steady);
  if (devices_of(model, c.ranks).differ())
    c.remedy =
        "A job is as fast as its slowest type of device: give such ranks less to do, or all ranks devices of one "
        "type.";
  if (rows[0].mean_excess < kFleet)
    c.against =
        fmt::format("devices of one fleet differ by up to {} without any being broken", percent_of(kFleet));
  else if (!is_steady)
    c.against = "it varies from step to step, as work of unequal size does";
  c.undo = [&model, rows](analyze::Scenario& s) {
    for (const DeviceRow& row : rows) level(model, row, row.high, s);
  };
  return c;
}

bool is_slow(const DeviceRow& row) {
  const auto high = static_cast<double>(row.high.size());
  return high > 0 && row.high[0] == row.first && high >= kMostSteps * static_cast<double>(row.known) &&
         row.is_even(row.high);
}

// Of two ranks work of unequal size makes now the one, now the other slower: the other one never is, in steps
// enough.
bool is_told_by_one(const JobModel& model, const std::vector<u32>& ranks, const std::vector<DeviceRow>& rows,
                    const std::vector<double>& shared) {
  constexpr u32 kLeastKnown = 6;
  return std::ranges::all_of(ranks, [&](u32 r) {
    const bool is_slow_one = std::ranges::any_of(rows, [&](const DeviceRow& row) { return row.rank == r; });
    return is_slow_one ? device_row(model, r, shared).known >= kLeastKnown
                       : device_row(model, r, shared).high.empty();
  });
}

// Slow ranks that no other pattern fits: a device that heats up, or is slow at times. What their peers have
// at the same time is the job's; where more than half of them are, it is the work that is uneven.
std::vector<DeviceRow> unsteady_rows(const JobModel& model) {
  constexpr double kLeast = 0.02;
  constexpr u32 kLeastKnown = 4;
  constexpr size_t kSeveral = 3;
  const std::vector<RankShift> shifts = level_shifts(model).of_ranks;
  const auto has_shift = [&](u32 rank) {
    return std::ranges::any_of(shifts, [&](const RankShift& shift) { return shift.row.rank == rank; });
  };
  std::vector<DeviceRow> unsteady;
  for (const std::vector<u32>& ranks : comparable_ranks(model)) {
    if (!varying_ranks(model, ranks, shifts).empty()) continue;
    const std::vector<double> shared = shared_factors(model, ranks);
    std::vector<DeviceRow> rows;
    for (const u32 r : ranks) {
      DeviceRow row = device_row(model, r, shared);
      const bool is_rare = static_cast<double>(row.high.size()) <= kFewSteps * static_cast<double>(row.known);
      if (row.known < kLeastKnown || is_rare || is_of_few_steps(row) || row.mean_excess < kLeast) continue;
      if (!has_shift(r) && !is_slow(device_row(model, r))) rows.push_back(std::move(row));
    }
    if (2 * rows.size() > ranks.size() ||
        (ranks.size() < kSeveral && !is_told_by_one(model, ranks, rows, shared)))
      continue;
    std::ranges::move(rows, std::back_inserter(unsteady));
  }
  return unsteady;
}

std::vector<Candidate> find_candidates(const JobModel& model) {
  std::vector<DeviceRow> slow;
  for (u32 r = 0; r < model.job.ranks.size(); ++r)
    if (DeviceRow row = device_row(model, r); is_slow(row)) slow.push_back(std::move(row));
  // Beside what all have in common some are slow all the time.
  std::vector<DeviceRow> unsteady = unsteady_rows(model);
  const auto steady = std::ranges::partition(unsteady, std::not_fn(is_slow));
  std::ranges::move(steady, std::back_inserter(slow));
  unsteady.erase(steady.begin(), steady.end());
  const auto are_one = [&](const DeviceRow& a, const DeviceRow& b) {
    return model.stages.of[a.rank] == model.stages.of[b.rank] && are_alike(a.mean_excess, b.mean_excess) &&
           (is_slow(a) || step_numbers(model, a.rank, a.high) == step_numbers(model, b.rank, b.high));
  };
  std::vector<Candidate> all;
  const auto add = [&](std::vector<DeviceRow> rows, bool is_steady) {
    std::ranges::sort(rows, {}, [](const DeviceRow& row) { return -row.mean_excess; });
    for (const std::vector<DeviceRow>& group : groups_of(std::move(rows), are_one))
      all.push_back(candidate_of(model, group, is_steady));
  };
  add(std::move(slow), true);
  add(std::move(unsteady), false);
  return all;
}

}  // namespace

const Mechanism kSlowDevice = {
    .name = "slow_device",
    .summary =
        "A rank's device takes longer for the same kernels than its peers' (the median of its stage): over 1 % and over six "
        "standard errors in 70 % of its steps or more, from the first on, evenly; or in over a fifth of them "
        "by 2 % or more, where no other pattern fits. More calls are uneven_work; a level that shifts within the recording is clock_drop.",
    .remedy =
        "Compare its clocks, power and temperature with its peers' (spotter metrics --metric 'gpu_*'): a power cap, cooling or another process "
        "on it may be why; if it is none of them, replace the device.",
    .evidence = "--table kernel_breakdown",
    .candidates = find_candidates,
};

}  // namespace spotter::diagnose
