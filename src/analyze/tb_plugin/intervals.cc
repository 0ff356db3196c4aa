#include "analyze/tb_plugin/intervals.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/saturated.h"
#include "base/time.h"

namespace spotter::analyze::tb_plugin {

UsIntervals merged(UsIntervals intervals) {
  std::ranges::sort(intervals, {}, &UsInterval::start);
  UsIntervals all;
  for (const UsInterval& i : intervals) {
    if (all.empty() || i.start > all.back().end)
      all.push_back(i);
    else
      all.back().end = std::max(all.back().end, i.end);
  }
  return all;
}

UsIntervals intersection(const UsIntervals& a, const UsIntervals& b) {
  UsIntervals both;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const UsInterval piece = {std::max(a[i].start, b[j].start), std::min(a[i].end, b[j].end)};
    if (piece.start < piece.end) both.push_back(piece);
    a[i].end < b[j].end ? ++i : ++j;
  }
  return both;
}

UsIntervals difference(const UsIntervals& a, const UsIntervals& b) {
  UsIntervals left;
  size_t j = 0;
  for (const UsInterval& i : a) {
    while (j < b.size() && b[j].end <= i.start) ++j;
    Us start = i.start;
    for (size_t k = j; k < b.size() && b[k].start < i.end; ++k) {
      if (start < b[k].start) left.push_back({start, b[k].start});
      start = std::max(start, b[k].end);
    }
    if (start < i.end) left.push_back({start, i.end});
  }
  return left;
}

Us length(const UsIntervals& intervals) {
  Us sum = 0;
  for (const UsInterval& i : intervals) sum += i.length();
  return sum;
}

Us length_in(const UsInterval& window, const UsIntervals& intervals) {
  Us sum = 0;
  auto i = std::ranges::upper_bound(intervals, window.start, {}, &UsInterval::end);
  for (; i != intervals.end() && i->start < window.end; ++i) sum += overlap(window, *i);
  return sum;
}

Ns ns_of(Us time) {
  const long double ns = std::round(static_cast<long double>(time) * kMicrosecond);
  constexpr i64 kMost = std::numeric_limits<i64>::max(), kLeast = std::numeric_limits<i64>::min();
  if (ns >= static_cast<long double>(kMost)) return kMost;
  if (!(ns > static_cast<long double>(kLeast))) return kLeast;
  return static_cast<Ns>(ns);
}

Ns unix_ns(Ns base_ns, Us time) { return add_saturated(base_ns, ns_of(time)); }

}  // namespace spotter::analyze::tb_plugin
