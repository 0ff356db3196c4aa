#include "diagnose/mechanisms/uneven.h"

#include <algorithm>
#include <cmath>

#include "base/lower_median.h"

namespace spotter::diagnose {
namespace {

constexpr size_t kRanks = 3;

// A step of a rank, as its cell is.
struct Sample {
  u32 step;  // of the job
  double factor, error;
};

// Without its level's shifts: a clock that drops makes the work no more uneven.
std::vector<Sample> samples_of(const JobModel& model, u32 rank, const std::vector<RankShift>& shifts) {
  std::vector<Sample> samples;
  std::vector<double> level(model.cells.steps(rank), 1);
  for (const RankShift& shift : shifts) {
    if (shift.row.rank != rank) continue;
    // Those in which it shifts are slow in a part.
    for (const u32 s : shift.drop.steps()) level[s] = 1 + shift.row.excess[s];
    for (const u32 s : shift.drop.inner()) level[s] = 1 + shift.excess();
  }
  for (u32 s = 0; s < model.cells.steps(rank); ++s)
    if (const Cell& cell = model.cells.at(rank, s); cell.is_known)
      samples.push_back({model.job.ranks[rank].job_steps[s], cell.factor / level[s], cell.error});
  return samples;
}

// By the job's steps.
std::vector<double> medians_of(const JobModel& model, const std::vector<std::vector<Sample>>& ranks) {
  std::vector<std::vector<double>> factors(static_cast<size_t>(model.steps));
  for (const std::vector<Sample>& samples : ranks)
    for (const Sample& sample : samples) factors[sample.step].push_back(sample.factor);
  std::vector<double> medians;
  for (std::vector<double>& of_step : factors) medians.push_back(of_step.empty() ? 1 : lower_median(of_step));
  return medians;
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

std::vector<double> shared_factors(const JobModel& model, const std::vector<u32>& ranks) {
  std::vector<std::vector<Sample>> samples;
  for (const u32 r : ranks) samples.push_back(samples_of(model, r, {}));
  return medians_of(model, samples);
}

std::vector<u32> varying_ranks(const JobModel& model, const std::vector<u32>& stage,
                               const std::vector<RankShift>& shifts) {
  constexpr double kLeast = 0.01, kErrors = 4, kPart = 0.3;
  std::vector<std::vector<Sample>> samples;
  for (const u32 r : stage) samples.push_back(samples_of(model, r, shifts));
  const std::vector<double> shared = medians_of(model, samples);
  std::vector<u32> varying;
  for (size_t i = 0; i < stage.size(); ++i) {
    double sum = 0, squares = 0, error = 0;
    const auto n = static_cast<double>(samples[i].size());
    for (const Sample& sample : samples[i]) {
      const double own = sample.factor - shared[sample.step];
      sum += own;
      squares += own * own;
      error += sample.error;
    }
    if (n < 2) continue;
    const double deviation = std::sqrt(std::max(0.0, squares / n - (sum / n) * (sum / n)));
    if (deviation > kLeast && deviation > kErrors * error / n) varying.push_back(stage[i]);
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
