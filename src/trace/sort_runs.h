// A stable sort for input that consists of few ascending runs, as events in a file do: it merges the runs
// that are there, so sorted input costs one comparison an element.
#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "base/types.h"

namespace spotter::trace {

// `spare` is memory to work in; it grows to the size of `items` at most.
template <class T, class Less>
void sort_runs(std::span<T> items, std::vector<T>& spare, Less less) {
  std::vector<size_t> ends;  // of the runs, ascending
  for (size_t i = 1; i < items.size(); ++i)
    if (less(items[i], items[i - 1])) ends.push_back(i);
  if (ends.empty()) return;
  ends.push_back(items.size());

  if (spare.size() < items.size()) spare.resize(items.size());
  T* from = items.data();
  T* to = spare.data();
  while (ends.size() > 1) {
    size_t kept = 0, begin = 0;
    for (size_t r = 0; r < ends.size(); r += 2) {
      const size_t middle = ends[r], end = ends[std::min(r + 1, ends.size() - 1)];
      std::merge(from + begin, from + middle, from + middle, from + end, to + begin, less);
      ends[kept++] = begin = end;
    }
    ends.resize(kept);
    std::swap(from, to);
  }
  if (from != items.data()) std::copy(from, from + items.size(), items.data());
}

}  // namespace spotter::trace
