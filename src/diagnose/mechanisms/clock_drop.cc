#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/lower_median.h"
#include "diagnose/mechanisms/device_rows.h"
#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

// At least: of a whole job, which has no peers to be compared with, and of a device that recovers.
constexpr double kShift = 0.02;
constexpr u32 kBefore = 2;      // steps at the old level that it takes then
constexpr double kBegun = 0.1;  // of the shift: a step that has less of it is before it
// Steps of a device that recovers: of fewer that vary by chance, slow ones often follow each other.
constexpr u32 kLeastKnown = 6;

std::vector<u32> steps_from(u32 first, u32 end) {
  std::vector<u32> steps(end - first);
  std::iota(steps.begin(), steps.end(), first);
  return steps;
}

// Without the first one, in the middle of which the clock may have dropped.
std::vector<u32> but_first(const std::vector<u32>& steps) {
  return {steps.begin() + (steps.size() > 1 ? 1 : 0), steps.end()};
}

// Those of a shift in which the new level shows: of two both have to.
std::vector<u32> settled(const std::vector<u32>& steps) {
  return steps.size() > 2 ? but_first(steps) : steps;
}

// Steps that are high one after the other, which no others are: to the last one, or of a device that
// recovers.
struct Drop {
  u32 first = 0, end = 0;
  bool recovers = false;
};

// Those at which it drops and recovers are slow in a part of their kernels.
std::vector<u32> inner(const Drop& drop) {
  const bool is_long = drop.end - drop.first > 2;
  return steps_from(drop.first + (drop.first > 0 && (is_long || !drop.recovers) ? 1 : 0),
                    drop.end - (drop.recovers && is_long ? 1 : 0));
}

std::optional<Drop> drop_of(const DeviceRow& row) {
  const auto steps = static_cast<u32>(row.excess.size());
  if (row.high.size() < 2) return {};
  const bool recovers = row.high.back() + 1 < steps;
  Drop drop{row.high.front(), row.high.back() + 1, recovers};
  if (row.high.size() != drop.end - drop.first) return {};
  const double share = static_cast<double>(row.high.size()) / static_cast<double>(row.known);
  // All the time: slow_device; in few steps: long_step.
  if (drop.first == 0 && (!recovers || share >= kMostSteps)) return {};
  const bool is_too_few = share <= kFewSteps || row.known < kLeastKnown;
  if (recovers && (is_too_few || row.mean_excess < kShift)) return {};
  const std::vector<u32> even = inner(drop);
  if (even.empty() || !row.is_even(even)) return {};
  // Of these the mean may not stand out.
  const double begun = recovers ? std::max(Cell::kLeast, kBegun * row.mean_excess) : Cell::kLeast;
  if (drop.first > 1 && row.excess[drop.first - 1] > begun) --drop.first;
  if (recovers && row.excess[drop.end] > begun) ++drop.end;
  return drop;
}

// Of steps of all ranks together: where the level goes up for good.
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

std::string since(const JobModel& model, u32 rank, u32 step) {
  const Ns after = model.job.ranks[rank].at(model.job.ranks[rank].step_rows[step]) -
                   model.job.ranks[rank].at(model.job.ranks[rank].step_rows[0]);
  return fmt::format("from step {} ({} into the recording) on", model.step_number(rank, step), human(after));
}

Candidate of_rank(const JobModel& model, const DeviceRow& row, const Drop& drop) {
  const std::vector<u32> steps = steps_from(drop.first, drop.end);
  Candidate c;
  c.ranks = {row.rank};
  c.steps = step_numbers(model, row.rank, steps);
  c.what = fmt::format("{} computes {} longer {} than its peers, and no longer {}", who(model, c.ranks),
                       percent_of(row.mean(inner(drop))),
                       drop.recovers ? "in steps " + steps_text(c.steps) : since(model, row.rank, drop.first),
                       drop.recovers ? "in the others" : "before");
  c.most = above_peers(model, row.rank, steps);
  c.undo = [&model, rank = row.rank, steps](analyze::Scenario& s) { level(model, rank, steps, s); };
  return c;
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

Candidate of_job(const JobModel& model, const MedianRow& median, u32 first) {
  const DeviceRow& row = median.row;
  const auto steps = static_cast<u32>(row.excess.size());
  const u32 from = median.steps[first];
  u32 rank = 0;  // one that has this step: most have
  while (!model.job.ranks[rank].step_at(from)) ++rank;
  const double before = 1 + row.mean(steps_from(0, first));
  const double excess = (1 + row.mean(settled(steps_from(first, steps)))) / before - 1;
  Candidate c;
  c.ranks = all_ranks(model);
  for (u32 s = first; s < steps; ++s) c.steps.push_back(model.job.step_numbers[median.steps[s]]);
  c.what = fmt::format("{} computes {} longer {} than before, for the same work", who(model, c.ranks),
                       percent_of(excess), since(model, rank, *model.job.ranks[rank].step_at(from)));
  c.undo = [&model, from, before](analyze::Scenario& s) {
    for (u32 r = 0; r < model.job.ranks.size(); ++r)
      for (u32 step = 0; step < model.cells.steps(r); ++step)
        if (model.job.ranks[r].job_steps[step] >= from)
          s.device[model.step_index(r, step)] *= std::min(1.0, before / model.cells.at(r, step).factor);
  };
  return c;
}

std::vector<Candidate> find_candidates(const JobModel& model) {
  // What most ranks do has no peers to be compared with: it is the job's.
  const MedianRow middle = median_row(model);
  if (const u32 first = shift_of(middle.row); first > 0) return {of_job(model, middle, first)};
  std::vector<Candidate> all;
  for (u32 r = 0; r < model.job.ranks.size(); ++r) {
    const DeviceRow row = device_row(model, r);
    if (const auto drop = drop_of(row); drop && model.job.ranks.size() > 1)
      all.push_back(of_rank(model, row, *drop));
  }
  return all;
}

}  // namespace

const Mechanism kClockDrop = {
    .name = "clock_drop",
    .summary =
        "From some step of the recording to its end, or in steps one after the other, a device takes longer for the same kernels "
        "than its peers' (as slow_device measures it), evenly, and does not in the others. Where it recovers, these are more than a "
        "fifth of the steps, of which there are six or more, by 2 % or more. Of all ranks together, or of one alone, the level has to "
        "shift by 2 % or more after two steps or more.",
    .remedy =
        "Look at power, temperature and clocks at that time (spotter metrics --metric 'gpu_*'): throttling ends "
        "with the cause of it, a power cap, cooling or a neighbour.",
    .evidence = "--table steps",
    .candidates = find_candidates,
};

}  // namespace spotter::diagnose
