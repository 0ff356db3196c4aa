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

Ns above_peers(const JobModel& model, u32 rank, const std::vector<u32>& steps) {
  double sum = 0;
  for (const u32 s : steps) {
    const Cell& cell = model.cells.at(rank, s);
    if (cell.factor > 1) sum += static_cast<double>(cell.device) * (1 - 1 / cell.factor);
  }
  return static_cast<Ns>(std::min(sum, static_cast<double>(kMaxTime)));
}

DeviceRow device_row(const JobModel& model, u32 rank) {
  DeviceRow row{.rank = rank};
  Ns device = 0;
  for (u32 s = 0; s < model.cells.steps(rank); ++s) {
    const Cell& cell = model.cells.at(rank, s);
    row.excess.push_back(cell.is_known ? cell.excess() : 0);
    row.error.push_back(cell.error);
    row.known += cell.is_known ? 1 : 0;
    device += cell.device;
    if (cell.is_high()) row.high.push_back(s);
  }
  row.mean_excess = row.mean(row.high);
  if (row.known > 0) row.mean_device = device / row.known;
  return row;
}

void level(const JobModel& model, u32 rank, const std::vector<u32>& steps, analyze::Scenario& scenario) {
  for (const u32 s : steps) scenario.device[model.step_index(rank, s)] /= model.cells.at(rank, s).factor;
}

}  // namespace spotter::diagnose
