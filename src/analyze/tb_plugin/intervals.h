// Times and their intervals as the plugin has them: doubles of microseconds, since its mistakes with them
// (Q10) are part of its numbers. Every interval is one that Python would have.
#pragma once
#include <algorithm>
#include <vector>

#include "base/types.h"

namespace spotter::analyze::tb_plugin {

using Us = double;

struct UsInterval {
  Us start = 0, end = 0;
  Us length() const { return end - start; }
};

// By start; disjoint where `merged`, and those that touch are one.
using UsIntervals = std::vector<UsInterval>;

UsIntervals merged(UsIntervals intervals);
// Of merged ones; empty pieces are left out.
UsIntervals intersection(const UsIntervals& a, const UsIntervals& b);
UsIntervals difference(const UsIntervals& a, const UsIntervals& b);

inline Us overlap(const UsInterval& a, const UsInterval& b) {
  return std::max<Us>(0, std::min(a.end, b.end) - std::max(a.start, b.start));
}
Us length(const UsIntervals& intervals);
// Of merged ones.
Us length_in(const UsInterval& window, const UsIntervals& intervals);

// Nearest nanosecond; ends where 64 bits do.
Ns ns_of(Us time);
// Of a time, which counts from `base_ns`.
Ns unix_ns(Ns base_ns, Us time);

}  // namespace spotter::analyze::tb_plugin
