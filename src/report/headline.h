// What was traced, in a few words each.
#pragma once
#include <string>
#include <vector>

#include "diagnose/job_facts.h"

namespace spotter::report {

// "4 ranks of 8", "NVIDIA H100", "3 steps (ProfilerStep)", "1.2 s", "1,234,567 events"
std::vector<std::string> headline(const diagnose::JobFacts& facts);

}  // namespace spotter::report
