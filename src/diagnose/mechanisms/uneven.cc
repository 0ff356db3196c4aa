#include "diagnose/mechanisms/uneven.h"

#include <algorithm>
#include <cmath>

namespace spotter::diagnose {
namespace {

constexpr size_t kRanks = 3;

double median_factor(const JobModel& model, const std::vector<u32>& stage, u32 step) {
  std::vector<double> factors;
  for (const u32 r : stage)
    if (const Cell* cell = model.cells.find(r, step)) factors.push_back(cell->factor);
  if (factors.empty()) return 1;
  const auto middle = factors.begin() + static_cast<std::ptrdiff_t>(factors.size() / 2);
  std::ranges::nth_element(factors, middle);
  return *middle;
}

}  // namespace

std::vector<std::vector<u32>> comparable_ranks(const JobModel& model) {
  std::vector<std::vector<u32>> groups;
  std::vector<u32> rest;
  for (const std::vector<u32>& stage : model.stages.ranks) {
    if (stage.size() >= kRanks)
      groups.push_back(stage);
    else
      rest.insert(rest.end(), stage.begin(), stage.end());
  }
  std::ranges::sort(rest);
  if (!rest.empty()) groups.push_back(std::move(rest));
  return groups;
}

std::vector<u32> varying_ranks(const JobModel& model, const std::vector<u32>& stage) {
  constexpr double kLeast = 0.01, kErrors = 4, kPart = 0.3;
  std::vector<double> shared;
  for (u32 s = 0; s < model.steps; ++s) shared.push_back(median_factor(model, stage, s));
  std::vector<u32> varying;
  for (const u32 r : stage) {
    double sum = 0, squares = 0, error = 0, n = 0;
    for (u32 s = 0; s < model.cells.steps(r); ++s) {
      const Cell& cell = model.cells.at(r, s);
      if (!cell.is_known) continue;
      const double own = cell.factor - shared[model.job.ranks[r].job_steps[s]];
      sum += own;
      squares += own * own;
      error += cell.error;
      ++n;
    }
    if (n < 2) continue;
    const double deviation = std::sqrt(std::max(0.0, squares / n - (sum / n) * (sum / n)));
    if (deviation > kLeast && deviation > kErrors * error / n) varying.push_back(r);
  }
  const bool are_many = varying.size() >= kRanks &&
                        static_cast<double>(varying.size()) >= kPart * static_cast<double>(stage.size());
  return are_many ? varying : std::vector<u32>();
}

double outer_limit(const JobModel& model, const std::vector<u32>& stage) {
  constexpr double kQuartiles = 3;
  std::vector<double> factors;
  for (const u32 r : stage)
    for (u32 s = 0; s < model.cells.steps(r); ++s)
      if (model.cells.at(r, s).is_known) factors.push_back(model.cells.at(r, s).factor);
  if (factors.empty()) return 1;
  std::ranges::sort(factors);
  const double lower = factors[factors.size() / 4], upper = factors[3 * factors.size() / 4];
  return upper + kQuartiles * (upper - lower);
}

}  // namespace spotter::diagnose
