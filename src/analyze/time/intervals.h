// Unions of time intervals. Intervals are half-open, [start, end); those that touch belong together.
#pragma once
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/types.h"

namespace spotter::analyze {

struct Interval {
  Ns start = 0, end = 0;
  bool operator==(const Interval&) const = default;
};

// Disjoint, non-empty, ascending, with a gap between neighbours.
using Union = std::vector<Interval>;

// Adds [start, end), which must not start before anything that was added earlier.
inline void extend(Union& u, Ns start, Ns end) {
  if (start >= end) return;
  if (u.empty() || start > u.back().end)
    u.push_back({start, end});
  else
    u.back().end = std::max(u.back().end, end);
}

Union unite(const Union& a, const Union& b);
Union unite(std::vector<Union> parts);
Union intersection(const Union& a, const Union& b);
Union difference(const Union& a, const Union& b);  // what of a is not in b
Ns length(const Union& u);

// The unions of three things, and for each subset of them the time in which exactly that subset is active:
// element m is for the things whose bits are set in m. Element 0 is 0.
using Unions = std::array<Union, 3>;
std::array<Ns, 8> time_by_set(const Unions& unions);

// The unions of `kinds` kinds of spans over all lines of a timeline, each of which has its spans by start.
template <size_t kinds>
class LineUnions {
 public:
  void next_line() { lines_.emplace_back(); }
  void add(size_t kind, Ns start, Ns end) { extend(lines_.back()[kind], start, end); }
  std::array<Union, kinds> united() && {
    std::array<Union, kinds> all;
    for (size_t kind = 0; kind < kinds; ++kind) {
      std::vector<Union> parts;
      for (auto& line : lines_) parts.push_back(std::move(line[kind]));
      all[kind] = unite(std::move(parts));
    }
    return all;
  }

 private:
  std::vector<std::array<Union, kinds>> lines_;
};

}  // namespace spotter::analyze
