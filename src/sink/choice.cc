#include "sink/choice.h"

#include <algorithm>
#include <utility>

#include "base/text/glob.h"

namespace spotter::sink {

bool Choice::is_wanted(const std::string& table) const {
  if (options_.tables.empty()) return std::ranges::find(options_.left_out, table) == options_.left_out.end();
  return std::ranges::any_of(options_.tables,
                             [&](const std::string& pattern) { return matches_glob(pattern, table); });
}

std::vector<const Table*> Choice::of(const Batch& batch) {
  std::vector<const Table*> chosen;
  chosen.reserve(batch.tables.size());
  for (const Table& table : batch.tables) {
    if (wants_all_) {
      chosen.push_back(&table);
      continue;
    }
    const auto [it, is_new] = states_.try_emplace({batch.by, table.name()});
    State& state = it->second;
    if (is_new) state.is_wanted = is_wanted(table.name());
    if (!state.is_wanted) continue;
    // Rows of events are each told once: none is there again in the next batch.
    if (options_.every > 0 && !table.is_events) {
      // Batches come at multiples of their period, but for some jitter: the border is half a period off
      // these.
      const Ns time = (batch.unix_ns + batch.period_ns / 2) / options_.every;
      if (std::exchange(state.last, time) == time) continue;
    }
    chosen.push_back(&table);
  }
  return chosen;
}

}  // namespace spotter::sink
