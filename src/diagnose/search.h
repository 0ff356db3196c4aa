// Search: which of the candidates cost the job time, and how much. Each is taken out of the replayed job by
// itself; the one that gives back the most is kept out, and the others are asked again, until none is worth
// telling: so two faults at once are each found with what they cost beside the other. Then opportunities, on
// the job without its faults.
#pragma once
#include <vector>

#include "diagnose/mechanism.h"

namespace spotter::diagnose {

enum class Confidence : u8 { low, medium, high };
const char* confidence_name(Confidence confidence);

struct Found {
  const Mechanism* mechanism;
  Candidate candidate = {};
  Ns gain = 0;       // of a step of the job
  double share = 0;  // of its mean step
  Confidence confidence = Confidence::low;
};

// Faults first, then opportunities, each by what they cost. `least`: the share of a step below which nothing
// is told.
std::vector<Found> search(const JobModel& model, double least);

}  // namespace spotter::diagnose
