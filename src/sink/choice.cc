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

Choice::State& Choice::state_of(const std::string& table) {
  const auto [it, is_new] = states_.try_emplace(table);
  if (!is_new) return it->second;
  const auto is_it = [&](const std::string& pattern) { return matches(pattern, table); };
  it->second.is_wanted = options_.tables.empty()
                             ? std::ranges::find(options_.left_out, table) == options_.left_out.end()
                             : std::ranges::any_of(options_.tables, is_it);
  return it->second;
}

std::vector<const Table*> Choice::of(const Batch& batch) {
  std::vector<const Table*> chosen;
  for (const Table& table : batch.tables) {
    State& state = state_of(table.name());
    if (!state.is_wanted) continue;
    const Ns time = options_.every > 0 ? batch.unix_ns / options_.every : -1;
    if (options_.every > 0 && std::exchange(state.last, time) == time) continue;
    chosen.push_back(&table);
  }
  return chosen;
}

}  // namespace spotter::sink
