// Every section of the report of a job, by the file of sections/ that it is in.
#pragma once
#include <span>

#include "report/section.h"

namespace spotter::report {

std::span<const Section* const> all_sections();  // in the order users see

extern const Section kStandsOut;     // stands_out.cc
extern const Section kDeviceRanks;   // ranks.cc
extern const Section kHostRanks;     // ranks.cc
extern const Section kTopKernels;    // kernels.cc
extern const Section kTopOperators;  // operators.cc
extern const Section kUntoldNotes;   // notes.cc

}  // namespace spotter::report
