// The median, of an even number of values the lower one of the two in the middle.
#pragma once
#include <algorithm>
#include <vector>

namespace spotter {

// Of at least one value. Reorders them.
template <class T>
T lower_median(std::vector<T>& values) {
  const auto middle = values.begin() + (std::ssize(values) - 1) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace spotter
