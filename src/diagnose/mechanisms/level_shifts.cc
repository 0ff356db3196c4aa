#include "diagnose/mechanisms/level_shifts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/lower_median.h"

namespace spotter::diagnose {
namespace {

// At least: of what is compared with its own past, and of a device that recovers.
constexpr double kShift = 0.02;
constexpr u32 kBefore = 2;      // steps at the old level that it takes then
constexpr double kBegun = 0.1;  // of the shift: a step that has less of it is before it
// Steps of a device that recovers: of fewer that vary by chance, slow ones often follow each other.
constexpr u32 kLeastKnown = 6;

// Without the first one, in the middle of which the clock may have dropped.
std::vector<u32> but_first(const std::vector<u32>& steps) {
  return {steps.begin() + (steps.size() > 1 ? 1 : 0), steps.end()};
}

// Those of a shift in which the new level shows: of two both have to.
std::vector<u32> settled(const std::vector<u32>& steps) {
  return steps.size() > 2 ? but_first(steps) : steps;
}

std::optional<Drop> drop_of(const DeviceRow& row) {
  if (row.high.size() < 2) return {};
  const bool recovers = row.high.back() + 1 < row.end;
  Drop drop{row.high.front(), row.high.back() + 1, recovers};
  if (row.high.size() != drop.end - drop.first) return {};
  const double share = static_cast<double>(row.high.size()) / static_cast<double>(row.known);
  // All the time: slow_device; in few steps: long_step.
  if (drop.first == row.first && (!recovers || share >= kMostSteps)) return {};
  const bool is_too_few = share <= kFewSteps || row.known < kLeastKnown;
  if (recovers && (is_too_few || row.mean_excess < kShift)) return {};
  const std::vector<u32> even = drop.inner();
  if (even.empty() || !row.is_even(even)) return {};
  // Of these the mean may not stand out.
  const double begun = recovers ? std::max(Cell::kLeast, kBegun * row.mean_excess) : Cell::kLeast;
  if (drop.first > row.first + 1 && row.excess[drop.first - 1] > begun) --drop.first;
  if (recovers && row.excess[drop.end] > begun) ++drop.end;
  return drop;
}

// Where the level goes up for good, compared with the steps before; 0: nowhere.
u32 shift_of(const DeviceRow& row) {
  const auto steps = static_cast<u32>(row.excess.size());
  u32 best = 0;
  double most = kShift;
  // Of thousands of steps not each is asked.
  constexpr u32 kMostAsked = 500;
  for (u32 first = kBefore; first + 2 <= steps; first += 1 + steps / kMostAsked) {
    const std::vector<u32> before = steps_from(0, first), after = settled(steps_from(first, steps));
    const double shift = row.mean(after) - row.mean(before);
    double spread = 0, error = 0;
    for (const auto& [side, mean] : {std::pair(before, row.mean(before)), std::pair(after, row.mean(after))})
      for (const u32 s : side) {
        spread = std::max(spread, std::abs(row.excess[s] - mean));
        error = std::max(error, row.error[s]);
      }
    if (shift <= most || spread > 0.2 * shift + Cell::kErrors * error || shift <= Cell::kErrors * error)
      continue;
    best = first;
    most = shift;
  }
  // The step before the shift may have counted as the one in which it happens.
  if (best > 0 && best + 2 < steps && row.excess[best] - row.mean(steps_from(0, best)) < kBegun * most)
    ++best;
  return best;
}

// The median over the ranks of a job, in the steps that most of them have.
struct MedianRow {
  DeviceRow row;
  std::vector<u32> steps;  // of the job
};

// Of a median, as the values scatter.
double median_error(std::vector<double>& values) {
  std::ranges::sort(values);
  const size_t last = values.size() - 1;
  return (values[3 * last / 4] - values[last / 4]) / std::sqrt(static_cast<double>(values.size()));
}

MedianRow median_row(const JobModel& model) {
  MedianRow middle;
  for (u32 s = 0; s < model.steps; ++s) {
    std::vector<double> excess, error;
    for (u32 r = 0; r < model.job.ranks.size(); ++r)
      if (const Cell* cell = model.cells.find(r, s)) {
        excess.push_back(cell->excess());
        error.push_back(cell->error);
      }
    if (2 * excess.size() <= model.job.ranks.size()) continue;
    middle.row.excess.push_back(lower_median(excess));
    middle.row.error.push_back(std::max(lower_median(error), median_error(excess)));
    middle.steps.push_back(s);
  }
  return middle;
}

// By how much a rank's mean goes up at a step of the job; nothing of one that has not recorded both sides.
std::optional<double> shift_at(const JobModel& model, u32 rank, u32 from) {
  std::vector<double> sides[2];
  for (u32 s = 0; s < model.steps; ++s)
    if (const Cell* cell = model.cells.find(rank, s)) sides[s >= from ? 1 : 0].push_back(cell->factor);
  if (sides[0].empty() || sides[1].empty()) return {};
  const auto mean = [](const std::vector<double>& side) {
    return std::accumulate(side.begin(), side.end(), 0.0) / static_cast<double>(side.size());
  };
  return mean(sides[1]) - mean(sides[0]);
}

std::optional<CommonShift> common_shift(const JobModel& model) {
  constexpr double kPart = 0.5;       // of the median's shift, which a rank has at least that shifts
  constexpr double kNearlyAll = 0.9;  // of the ranks
  const MedianRow median = median_row(model);
  const u32 first = shift_of(median.row);
  if (first == 0) return {};
  const auto steps = static_cast<u32>(median.steps.size());
  const double before = 1 + median.row.mean(steps_from(0, first));
  const double after = 1 + median.row.mean(settled(steps_from(first, steps)));
  CommonShift shift{.from = median.steps[first], .before = before, .excess = after / before - 1};
  for (u32 r = 0; r < model.job.ranks.size(); ++r)
    if (shift_at(model, r, shift.from).value_or(after - before) >= kPart * (after - before))
      shift.ranks.push_back(r);
  if (static_cast<double>(shift.ranks.size()) < kNearlyAll * static_cast<double>(model.job.ranks.size()))
    return {};
  shift.levels.resize(static_cast<size_t>(model.steps), before);
  std::fill(shift.levels.begin() + shift.from, shift.levels.end(), after);
  for (u32 s = first; s < steps; ++s)
    shift.levels[median.steps[s]] = std::max(before, 1 + median.row.excess[s]);
  return shift;
}

// Where a rank's level goes up for good against its own past.
std::optional<RankShift> own_shift(const JobModel& model, u32 rank) {
  RankShift own{.row = device_row(model, rank), .drop = {}};
  DeviceRow& row = own.row;
  if (row.known != row.excess.size()) return {};
  const u32 first = shift_of(row);
  if (first == 0) return {};
  const double before = 1 + row.mean(steps_from(0, first));
  for (double& excess : row.excess) excess = (1 + excess) / before - 1;
  own.drop = {first, row.end, false};
  row.high = own.drop.steps();
  row.mean_excess = row.mean(row.high);
  return own;
}

// Of most ranks of a stage at one step. Where they are slow for most of the time, that is what the stage's
// median is, and no peers show it.
std::vector<RankShift> own_shifts(const JobModel& model, const std::vector<u32>& stage) {
  std::vector<RankShift> own;
  std::vector<u32> first;  // steps of the job
  for (const u32 r : stage)
    if (auto shift = own_shift(model, r)) {
      first.push_back(model.job.ranks[r].job_steps[shift->drop.first]);
      own.push_back(std::move(*shift));
    }
  if (own.empty()) return own;
  const u32 usual = lower_median(first);
  std::erase_if(own, [&](const RankShift& shift) {
    const u32 step = model.job.ranks[shift.row.rank].job_steps[shift.drop.first];
    return step > usual + 1 || usual > step + 1;
  });
  if (2 * own.size() <= stage.size()) own.clear();
  return own;
}

}  // namespace

std::vector<u32> steps_from(u32 first, u32 end) {
  std::vector<u32> steps(end - first);
  std::iota(steps.begin(), steps.end(), first);
  return steps;
}

std::vector<u32> Drop::inner() const {
  const bool is_long = end - first > 2;
  return steps_from(first + (first > 0 && (is_long || !recovers) ? 1 : 0),
                    end - (recovers && is_long ? 1 : 0));
}

LevelShifts level_shifts(const JobModel& model) {
  LevelShifts shifts{.common = common_shift(model)};
  if (model.job.ranks.size() < 2) return shifts;
  const std::vector<double> shared = shifts.common ? shifts.common->levels : std::vector<double>();
  for (const std::vector<u32>& stage : model.stages.ranks) {
    std::vector<RankShift> own;
    if (!shifts.common) own = own_shifts(model, stage);
    for (const u32 r : stage) {
      if (std::ranges::any_of(own, [&](const RankShift& shift) { return shift.row.rank == r; })) continue;
      DeviceRow row = device_row(model, r, shared);
      if (const auto drop = drop_of(row)) shifts.of_ranks.push_back({std::move(row), *drop});
    }
    std::ranges::move(own, std::back_inserter(shifts.of_ranks));
  }
  return shifts;
}

}  // namespace spotter::diagnose
