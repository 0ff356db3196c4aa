// Level shifts: from some step on, or for some steps one after the other, devices take longer for the same
// work than before: of all ranks alike, or of some, as those show that do not.
#pragma once
#include <optional>
#include <vector>

#include "diagnose/mechanisms/device_rows.h"

namespace spotter::diagnose {

std::vector<u32> steps_from(u32 first, u32 end);

// Steps that are high one after the other, which no others are: to the last one, or of a device that
// recovers.
struct Drop {
  u32 first = 0, end = 0;  // of the rank's steps
  bool recovers = false;
  std::vector<u32> steps() const { return steps_from(first, end); }
  // Without those at which it drops and recovers, which are slow in a part of their kernels.
  std::vector<u32> inner() const;
};

// Of all ranks, or nearly all.
struct CommonShift {
  std::vector<u32> ranks = {};
  u32 from = 0;                     // step of the job
  double before = 1;                // how many times as long as the cells' reference until then
  double excess = 0;                // how much longer than that afterwards
  std::vector<double> levels = {};  // by the job's steps: how many times as long as the reference
};

// Of some of them, in which what all have in common is left out.
struct RankShift {
  DeviceRow row;
  Drop drop;
  double excess() const { return row.mean(drop.inner()); }
};

struct LevelShifts {
  std::optional<CommonShift> common = {};
  std::vector<RankShift> of_ranks = {};
};

LevelShifts level_shifts(const JobModel& model);

}  // namespace spotter::diagnose
