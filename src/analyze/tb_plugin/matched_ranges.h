// Which collectives of several ranks the plugin takes for one, and when they transfer: by their order alone
// (Q15).
#pragma once
#include <span>
#include <vector>

#include "analyze/analysis.h"
#include "analyze/tb_plugin/communication.h"
#include "analyze/time/intervals.h"

namespace spotter::analyze::tb_plugin {

// A time that a collective has on a rank: its span on the host, or one of its kernels.
struct Range {
  size_t row = 0;           // of the rank's table
  Interval time, transfer;  // whoever takes the least time waits for nobody, and all end at once
};

// Per table. The tables have columns "collective", which counts them (-1: the row is no range), "start_ns"
// and "dur_ns". Nothing where a rank has no collectives, or others than the rest by their number or their
// ranges': then the plugin has no distributed view, which is noted.
std::vector<std::vector<Range>> match_ranges(std::span<const RankTable> tables, Notes& notes);

Ns length_of(std::vector<Interval> times);  // of their union

// What the tables of one rank are made of: calls append(collective's number, range) for each.
template <class F>
void for_each_range(const Communication& communication, F append) {
  if (communication.is_mixed) return;
  for (size_t c = 0; c < communication.all.size(); ++c)
    for (const UsInterval& range : communication.all[c].ranges) append(c, range);
}

}  // namespace spotter::analyze::tb_plugin
