// What a question of what_if.h changes of a scenario.
#pragma once
#include "diagnose/what_if.h"

namespace spotter::diagnose {

// Multiplies the times that it is about, or sets them to what peers need:
//   device    what the same kernels take the stage's median rank (model/cells.h)
//   host      the median over the stage's ranks of their usual (median) step
//   pause     what the stage has at the same place (PauseAt::ideal)
//   transfer  of links that are slow against a reference, the reference (mechanisms/slow_link.cc)
// Notes: that there is nothing of the kind, or no peer.
// Errors: not_found (a rank or a group that the job does not have).
Result<void> change(const JobModel& model, const WhatIf& question, analyze::Scenario& world, Notes& notes);

}  // namespace spotter::diagnose
