#include "analyze/tb_plugin/matched_ranges.h"

#include <algorithm>

#include "base/saturated.h"

namespace spotter::analyze::tb_plugin {

std::vector<std::vector<Range>> match_ranges(std::span<const RankTable> tables, Notes& notes) {
  std::vector<std::vector<Range>> ranges;
  std::vector<std::vector<i64>> collectives;
  for (const RankTable& rank : tables) {
    const Table& table = rank.table;
    const size_t start = table.column("start_ns"), dur = table.column("dur_ns"),
                 collective = table.column("collective");
    ranges.emplace_back();
    collectives.emplace_back();
    for (size_t row = 0; row < table.rows(); ++row) {
      if (table.integer(row, collective) < 0) continue;
      const Ns begin = table.integer(row, start), end = add_saturated(begin, table.integer(row, dur));
      ranges.back().push_back({row, {begin, end}, {begin, end}});
      collectives.back().push_back(table.integer(row, collective));
    }
  }
  const bool are_alike = std::ranges::all_of(
      collectives, [&](const auto& own) { return !own.empty() && own == collectives.front(); });
  if (!are_alike) {
    notes.add(
        "no_plugin_numbers", Severity::info,
        "the plugin has no distributed view of ranks without collectives, or with different numbers of them (Q15)");
    return {};
  }
  for (size_t i = 0; !ranges.empty() && i < ranges.front().size(); ++i) {
    Ns least = std::numeric_limits<Ns>::max();
    for (const auto& rank : ranges)
      least = std::min(least, subtract_saturated(rank[i].time.end, rank[i].time.start));
    for (auto& rank : ranges) rank[i].transfer.start = subtract_saturated(rank[i].time.end, least);
  }
  return ranges;
}

Ns length_of(std::vector<Interval> times) {
  std::ranges::sort(times, {}, &Interval::start);
  Union all;
  for (const Interval& time : times) extend(all, time.start, time.end);
  return length(all);
}

}  // namespace spotter::analyze::tb_plugin
