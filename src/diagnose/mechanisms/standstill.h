// A job that stands still for as long as it is recorded: its steps are longer than that. No step is whole
// then, and nothing is there to compare; what there is, is who was at work.
#pragma once
#include <optional>

#include "diagnose/mechanism.h"

namespace spotter::diagnose {

// The ranks whose hosts were within an operator until their recording ended, where most others did nothing.
// Of hosts with devices it cannot be told: an operator may wait for its device there, which waits for others.
std::optional<Candidate> standstill(const JobModel& model);

}  // namespace spotter::diagnose
