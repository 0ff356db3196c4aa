// How a rank's device does step by step, as several mechanisms tell its patterns apart.
#pragma once
#include <vector>

#include "diagnose/model/job_model.h"

namespace spotter::diagnose {

inline constexpr double kMostSteps = 0.7;  // of a rank's, from the first on, are slow: its device is
inline constexpr double kFewSteps = 0.2;   // or fewer: it is these steps' own trouble

struct DeviceRow {
  u32 rank = 0;
  u32 known = 0;                                // steps in which it works
  u32 first = 0, end = 0;                       // the first of them, and behind the last
  std::vector<u32> high = {};                   // steps in which it takes longer than its peers
  double mean_excess = 0;                       // over those
  std::vector<double> excess = {}, error = {};  // per step

  // Whether these steps are slow by about the same: their range is at most 40 % of their mean, and what the
  // work's own scatter explains.
  bool is_even(const std::vector<u32>& steps) const;
  double mean(const std::vector<u32>& steps) const;
};

// `shared`, by the job's steps: how many times as long all take there, with which it is no longer than they;
// empty: as the cells are.
DeviceRow device_row(const JobModel& model, u32 rank, const std::vector<double>& shared = {});

// Whether it is slow in some, but so few steps that these are to blame.
bool is_of_few_steps(const DeviceRow& row);

// What the rank's device takes longer than its peers' in these steps.
Ns above_peers(const JobModel& model, const DeviceRow& row, const std::vector<u32>& steps);

// In the scenario the rank's device is as fast as its peers' in these steps; its jitter stays, as theirs
// does.
void level(const JobModel& model, const DeviceRow& row, const std::vector<u32>& steps,
           analyze::Scenario& scenario);

}  // namespace spotter::diagnose
