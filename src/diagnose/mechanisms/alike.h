// Ranks that have the same trouble to about the same amount, which are told as one.
#pragma once
#include <cmath>
#include <utility>
#include <vector>

namespace spotter::diagnose {

// Whether two excesses are about the same.
inline bool are_alike(double a, double b) {
  constexpr double kAlike = 0.25;
  return std::abs(a - b) <= kAlike * a;
}

// Each in the first group whose first one `fits` it.
template <class T, class Fits>
std::vector<std::vector<T>> groups_of(std::vector<T> all, const Fits& fits) {
  std::vector<std::vector<T>> groups;
  for (T& one : all) {
    std::vector<T>* home = nullptr;
    for (std::vector<T>& group : groups)
      if (home == nullptr && fits(group[0], one)) home = &group;
    if (home == nullptr) home = &groups.emplace_back();
    home->push_back(std::move(one));
  }
  return groups;
}

}  // namespace spotter::diagnose
