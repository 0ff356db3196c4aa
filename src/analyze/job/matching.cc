#include "analyze/job/matching.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <unordered_map>

namespace spotter::analyze {
namespace {

// Runs of one group, name and sequence number.
auto pool_of(const Run& run) { return std::tuple(run.group, run.name, run.sequence); }

// Numbers the collectives of a pool, which is sorted by start, from `first` on; returns how many there are.
size_t number_collectives(std::span<Run> pool, size_t first) {
  std::vector<Ns> first_end;                        // per collective
  std::unordered_map<size_t, size_t> next_of_part;  // the first collective that can take its next run
  size_t open = 0;                                  // those before have ended
  for (Run& run : pool) {
    size_t& at = next_of_part[run.part];
    if (run.sequence == kNoSequence) {
      while (open < first_end.size() && first_end[open] < run.start) ++open;
      at = std::max(at, open);
      while (at < first_end.size() && first_end[at] < run.start) ++at;
    }
    if (at == first_end.size()) first_end.push_back(run.end);
    first_end[at] = std::min(first_end[at], run.end);
    run.collective = first + at++;
  }
  return first_end.size();
}

template <class Key>
void sort_by(std::vector<Run>& runs, Key key) {
  std::sort(runs.begin(), runs.end(), [&](const Run& a, const Run& b) {
    return std::tuple(key(a), a.start, a.part) < std::tuple(key(b), b.start, b.part);
  });
}

}  // namespace

void match(std::vector<Run>& runs) {
  sort_by(runs, pool_of);
  size_t collectives = 0;
  for (auto begin = runs.begin(); begin != runs.end();) {
    const auto end =
        std::find_if(begin, runs.end(), [&](const Run& run) { return pool_of(run) != pool_of(*begin); });
    collectives += number_collectives({begin, end}, collectives);
    begin = end;
  }
  sort_by(runs, [](const Run& run) { return run.collective; });
}

}  // namespace spotter::analyze
