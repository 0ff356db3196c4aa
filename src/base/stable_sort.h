// Sorting that keeps equal elements in the order in which they were. The standard library's is not used: up
// to GCC 12 it calls a function that Clang rejects as deprecated.
#pragma once
#include <algorithm>
#include <numeric>
#include <vector>

namespace spotter {

template <class T, class Before>
void stable_sort(std::vector<T>& all, Before before) {
  if (std::is_sorted(all.begin(), all.end(), before)) return;
  std::vector<size_t> order(all.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (before(all[a], all[b])) return true;
    return !before(all[b], all[a]) && a < b;
  });
  std::vector<T> sorted;
  sorted.reserve(all.size());
  for (const size_t i : order) sorted.push_back(std::move(all[i]));
  all = std::move(sorted);
}

}  // namespace spotter
