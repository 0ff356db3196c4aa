// Where a rank launches more than its peers do at the same place of the step.
#pragma once
#include <vector>

#include "diagnose/model/job_model.h"

namespace spotter::diagnose {

struct ExtraRow {
  u32 row;      // of the rank's program: a run
  double part;  // of its pieces that its peers have, too
  i64 pieces;   // that they have not
};

// A place is a stream and how many runs of the step were on it before. What peers have there is the median of
// the first few of the stage's other ranks, 0 where they have no such place.
std::vector<ExtraRow> extra_rows(const JobModel& model, u32 rank);

}  // namespace spotter::diagnose
