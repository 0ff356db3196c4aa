#include "sink/choice.h"

#include <algorithm>
#include <utility>

namespace spotter::sink {

bool matches(std::string_view pattern, std::string_view name) {
  size_t p = 0, n = 0;
  size_t star = pattern.npos, taken = 0;  // the last star, and where what comes behind it was tried
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != pattern.npos) {
      p = star + 1;
      n = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == pattern.npos;
}

bool Choice::is_wanted(const std::string& table) const {
  if (options_.tables.empty()) return std::ranges::find(options_.left_out, table) == options_.left_out.end();
  return std::ranges::any_of(options_.tables,
                             [&](const std::string& pattern) { return matches(pattern, table); });
}

std::vector<const Table*> Choice::of(const Batch& batch) {
  std::vector<const Table*> chosen;
  for (const Table& table : batch.tables) {
    const auto [it, is_new] = states_.try_emplace({batch.by, table.name()});
    State& state = it->second;
    if (is_new) state.is_wanted = is_wanted(table.name());
    if (!state.is_wanted) continue;
    // Batches come at multiples of their period, but for some jitter: the border is half a period off these.
    const Ns time = options_.every > 0 ? (batch.unix_ns + batch.period_ns / 2) / options_.every : 0;
    if (options_.every > 0 && std::exchange(state.last, time) == time) continue;
    chosen.push_back(&table);
  }
  return chosen;
}

}  // namespace spotter::sink
