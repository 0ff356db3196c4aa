// Medians that a few wild values do not move, of at least one number (none of them a not-a-number). Of an
// even count the mean of the two in the middle: with few members, where half of them differ, the lower one
// would take one half for usual and the other for outliers.
#pragma once
#include <span>

namespace spotter::respond {

// Reorders the values.
double median(std::span<double> values);

struct Level {
  double median = 0;
  double spread = 0;  // 1.4826 x the median distance from the median: the standard deviation of a Gaussian
};

// Changes the values.
Level level_of(std::span<double> values);

}  // namespace spotter::respond
