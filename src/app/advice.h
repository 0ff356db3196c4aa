// What a person should look at: the sentences at the top of the report.
#pragma once
#include <string>
#include <vector>

#include "app/facts.h"

namespace spotter {

// Most important first; at most five sentences. Thresholds are in advice.cc.
std::vector<std::string> advice(const Facts& facts);

}  // namespace spotter
