// In which order a tree is listed.
#pragma once
#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "base/types.h"
#include "table/table.h"

namespace spotter::analyze {

// What is deeper in a tree is its ancestor's at that depth: paths are texts, and a recursion a thousand calls
// deep would have megabytes of them.
inline constexpr i64 kDeepest = 100;

inline void note_too_deep(i64 count, Table& table) {
  if (count > 0)
    table.notes.add("too_deep", Severity::info,
                    "spans are more than 100 deep in others, and are a part of what is around them", -1,
                    count);
}

// Places of the nodes, each before those in it; siblings by `first`. A node has its `parent`, the place of an
// earlier one or kNone.
template <class Node>
std::vector<u32> tree_order(const std::vector<Node>& nodes) {
  std::vector<u32> by_last(nodes.size());
  std::iota(by_last.begin(), by_last.end(), 0u);
  std::ranges::sort(by_last, std::greater(), [&](u32 n) { return std::pair(nodes[n].first, n); });
  std::vector<std::vector<u32>> inside(nodes.size());
  std::vector<u32> open, order;  // the next one last
  for (const u32 n : by_last) (nodes[n].parent == kNone ? open : inside[nodes[n].parent]).push_back(n);
  while (!open.empty()) {
    const u32 n = open.back();
    open.pop_back();
    open.insert(open.end(), inside[n].begin(), inside[n].end());
    order.push_back(n);
  }
  return order;
}

}  // namespace spotter::analyze
