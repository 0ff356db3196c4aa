// How many rows the longest tables list.
#pragma once
#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/analysis.h"

namespace spotter::analyze {

inline constexpr Param kTop = {
    "top", 20,
    "list this many kernels or operators, those that take the most time or memory (per "
    "rank, the rest in one row: others); "
    "0 lists all"};

inline bool has_top(const Analysis& analysis) {
  return std::ranges::any_of(analysis.params,
                             [](const Param& p) { return p.name == std::string_view(kTop.name); });
}

// The first `top` of groups that are in order (0: all), and behind them one, Group() before, that all others
// are merged into, if there are any.
template <class Group>
std::vector<Group> first_and_others(std::vector<Group> groups, i64 top) {
  const size_t listed = top == 0 ? groups.size() : std::min(groups.size(), static_cast<size_t>(top));
  if (listed == groups.size()) return groups;
  Group others;
  for (size_t i = listed; i < groups.size(); ++i) others.merge(groups[i]);
  groups.resize(listed);
  groups.push_back(std::move(others));
  return groups;
}

}  // namespace spotter::analyze
