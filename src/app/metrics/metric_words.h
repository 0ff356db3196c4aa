// The names of what collectors measure, for whoever types them.
#pragma once
#include <string>
#include <vector>

namespace spotter::app {

std::vector<std::string> metric_words();     // "cpu_busy_ratio"
std::vector<std::string> table_words();      // "cpu"
std::vector<std::string> collector_words();  // "nvidia", and "all" and "off", as --collect has them

}  // namespace spotter::app
