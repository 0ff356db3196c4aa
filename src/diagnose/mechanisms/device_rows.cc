#include "diagnose/mechanisms/device_rows.h"

#include <algorithm>

namespace spotter::diagnose {

double DeviceRow::mean(const std::vector<u32>& steps) const {
  double sum = 0;
  for (const u32 s : steps) sum += excess[s];
  return steps.empty() ? 0 : sum / static_cast<double>(steps.size());
}

bool DeviceRow::is_even(const std::vector<u32>& steps) const {
  constexpr double kRange = 0.4, kErrors = 6;
  if (steps.empty()) return false;
  double least = excess[steps[0]], most = least, worst = 0;
  for (const u32 s : steps) {
    least = std::min(least, excess[s]);
    most = std::max(most, excess[s]);
    worst = std::max(worst, error[s]);
  }
  return most - least <= kRange * mean(steps) + kErrors * worst;
}

bool is_of_few_steps(const DeviceRow& row) {
  constexpr u32 kLeastSteps = 3;  // else there is no other to compare with
  const auto few = std::max<size_t>(1, static_cast<size_t>(kFewSteps * static_cast<double>(row.known)));
  return row.known >= kLeastSteps && !row.high.empty() && row.high.size() <= few;
}

Ns above_peers(const JobModel& model, const DeviceRow& row, const std::vector<u32>& steps) {
  double sum = 0;
  for (const u32 s : steps)
    if (const double excess = row.excess[s]; excess > 0)
      sum += static_cast<double>(model.cells.at(row.rank, s).device) * (1 - 1 / (1 + excess));
  return static_cast<Ns>(std::min(sum, static_cast<double>(kMaxTime)));
}

DeviceRow device_row(const JobModel& model, u32 rank, const std::vector<double>& shared) {
  DeviceRow row{.rank = rank};
  for (u32 s = 0; s < model.cells.steps(rank); ++s) {
    Cell cell = model.cells.at(rank, s);
    if (!shared.empty()) cell.factor /= shared[model.job.ranks[rank].job_steps[s]];
    row.excess.push_back(cell.is_known ? cell.excess() : 0);
    row.error.push_back(cell.error);
    if (cell.is_high()) row.high.push_back(s);
    if (!cell.is_known) continue;
    if (row.known++ == 0) row.first = s;
    row.end = s + 1;
  }
  row.mean_excess = row.mean(row.high);
  return row;
}

void level(const JobModel& model, const DeviceRow& row, const std::vector<u32>& steps,
           analyze::Scenario& scenario) {
  for (const u32 s : steps) scenario.device[model.step_index(row.rank, s)] /= 1 + row.excess[s];
}

}  // namespace spotter::diagnose
