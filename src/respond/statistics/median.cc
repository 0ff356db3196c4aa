#include "respond/statistics/median.h"

#include <algorithm>
#include <cmath>

#include "base/result.h"

namespace spotter::respond {

double median(std::span<double> values) {
  CHECK(!values.empty());
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 != 0) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

Level level_of(std::span<double> values) {
  Level level = {.median = median(values), .spread = 0};
  for (double& value : values) value = std::abs(value - level.median);
  level.spread = 1.4826 * median(values);
  return level;
}

}  // namespace spotter::respond
