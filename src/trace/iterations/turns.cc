#include "trace/iterations/turns.h"

#include <algorithm>
#include <unordered_map>

#include "base/saturated.h"
#include "base/stable_sort.h"
#include "trace/iterations/iterations.h"

namespace spotter::trace {
namespace {

using What = WorkItem::What;
using Items = std::span<const WorkItem>;

constexpr size_t kMostCues = 8;  // names that are tried as ends of turns, so that the time stays linear
constexpr double kLeastShare = 0.5;

bool ends_turn(What what) { return what == What::wait || what == What::copy_to_host || what == What::sample; }

struct Cue {
  What what;
  StringId name;
  size_t count = 0;
};

// Waits first, then copies to the host, then choices of tokens; of one kind the most frequent first.
std::vector<Cue> cues_of(Items items, size_t names) {
  std::vector<size_t> counts(names);
  std::vector<Cue> cues;
  for (const WorkItem& item : items)
    if (ends_turn(item.what) && counts[item.name]++ == 0) cues.push_back({item.what, item.name});
  for (Cue& cue : cues) cue.count = counts[cue.name];
  constexpr auto order = [](What what) {
    return what == What::wait ? 0 : what == What::copy_to_host ? 1 : 2;
  };
  stable_sort(cues, [&](const Cue& a, const Cue& b) {
    return order(a.what) != order(b.what) ? order(a.what) < order(b.what) : a.count > b.count;
  });
  if (cues.size() > kMostCues) cues.resize(kMostCues);
  return cues;
}

// Where turns end that have this cue at their end: behind it, and what follows it directly and ends turns,
// too.
std::vector<u32> ends_by(Items items, StringId cue) {
  std::vector<u32> ends;
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].name != cue || !ends_turn(items[i].what)) continue;
    while (i + 1 < items.size() && ends_turn(items[i + 1].what)) ++i;
    ends.push_back(static_cast<u32>(i + 1));
  }
  return ends;
}

// How many kernels and launches of graphs, by name, occur exactly once in each turn.
size_t once_in_each(Items items, std::span<const u32> bounds, size_t names) {
  struct Seen {
    u32 turn = 0, times = 0, turns_once = 0;
  };
  std::vector<Seen> seen(names);
  size_t once = 0;
  const auto turns = static_cast<u32>(bounds.size() - 1);
  for (u32 turn = 1; turn <= turns; ++turn) {
    for (const WorkItem& item : items.subspan(bounds[turn - 1], bounds[turn] - bounds[turn - 1])) {
      if (item.what == What::wait || item.what == What::copy_to_host) continue;
      Seen& s = seen[item.name];
      if (s.turn != turn) {
        s.turn = turn;
        s.times = 0;
      }
      if (++s.times <= 2) s.turns_once += s.times == 1 ? 1 : -1u;
    }
  }
  for (const Seen& s : seen) once += s.turns_once == turns;
  return once;
}

u64 hash_of(Items items) {
  u64 hash = 0xCBF29CE484222325u;  // FNV-1a over names
  for (const WorkItem& item : items) hash = (hash ^ item.name) * 0x100000001B3u;
  return hash;
}

// Without what ends turns at its end.
Items work_of(Items turn) {
  while (!turn.empty() && ends_turn(turn.back().what)) turn = turn.first(turn.size() - 1);
  return turn;
}

// Whether what follows the last end does the work of a turn: engines also wait at the beginning of one.
bool is_turn(Items rest, Items items, std::span<const u32> bounds) {
  if (rest.empty()) return false;
  const u64 hash = hash_of(work_of(rest));
  for (size_t i = 0; i + 1 < bounds.size(); ++i)
    if (hash_of(work_of(items.subspan(bounds[i], bounds[i + 1] - bounds[i]))) == hash) return true;
  return false;
}

// Whether half of the turns or more are as another one.
bool repeat(Items items, std::span<const u32> bounds) {
  std::unordered_map<u64, size_t> counts;
  for (size_t i = 0; i + 1 < bounds.size(); ++i)
    ++counts[hash_of(items.subspan(bounds[i], bounds[i + 1] - bounds[i]))];
  size_t alike = 0;
  for (const auto& [hash, count] : counts)
    if (count > 1) alike += count;
  return 2 * alike >= bounds.size() - 1;
}

// Of the device time of the trace, that of items [begin, end).
double share_of(const WorkSequence& sequence, size_t begin, size_t end) {
  Ns all = 0, within = 0;
  for (size_t i = 0; i < sequence.items.size(); ++i) {
    all = add_saturated(all, sequence.items[i].device);
    if (begin <= i && i < end) within = add_saturated(within, sequence.items[i].device);
  }
  if (all == 0) return sequence.share;
  return sequence.share * static_cast<double>(within) / static_cast<double>(all);
}

}  // namespace

std::optional<Turns> find_turns(const WorkSequence& sequence, size_t names, bool has_device_work) {
  const Items items = sequence.items;
  const size_t least_once = has_device_work ? 2 : 1;
  for (const Cue& cue : cues_of(items, names)) {
    std::vector<u32> bounds = ends_by(items, cue.name);
    if (bounds.size() < kLeastIterations) continue;
    const size_t once = once_in_each(items, bounds, names);
    const bool begins_alike = items[0].name == items[bounds[0]].name;
    if (is_turn(items.subspan(bounds.back()), items, bounds))
      bounds.push_back(static_cast<u32>(items.size()));
    if (begins_alike) bounds.insert(bounds.begin(), 0);
    if (bounds.size() > kLeastIterations && once >= least_once && repeat(items, bounds) &&
        share_of(sequence, bounds.front(), bounds.back()) >= kLeastShare)
      return Turns{std::move(bounds), cue.name};
  }
  return std::nullopt;
}

namespace {

// Of the suffixes of the sequence that repeat a period three times or more, the longest: its length and its
// smallest period, by the failure function of Knuth, Morris and Pratt on the reversed sequence.
struct Periodic {
  size_t length = 0, period = 0;
};
Periodic longest_periodic_suffix(Items items) {
  const size_t n = items.size();
  const auto name = [&](size_t i) { return items[n - 1 - i].name; };
  std::vector<u32> border(n);
  Periodic best;
  for (size_t i = 1; i < n; ++i) {
    u32 b = border[i - 1];
    while (b > 0 && name(i) != name(b)) b = border[b - 1];
    border[i] = b + (name(i) == name(b) ? 1 : 0);
    const size_t length = i + 1, period = length - border[i];
    if (kLeastIterations * period <= length && period >= kLeastPeriod) best = {length, period};
  }
  return best;
}

}  // namespace

std::optional<Turns> find_period(const WorkSequence& sequence) {
  const Items items = sequence.items;
  const Periodic found = longest_periodic_suffix(items);
  if (found.period == 0) return std::nullopt;
  const size_t first = items.size() - found.length;
  std::vector<double> gaps(found.period), counts(found.period);  // before each item of the period
  for (size_t i = first + 1; i < items.size(); ++i) {
    gaps[(i - first) % found.period] +=
        static_cast<double>(items[i].start) - static_cast<double>(items[i - 1].end);
    ++counts[(i - first) % found.period];
  }
  for (size_t i = 0; i < found.period; ++i) gaps[i] /= counts[i];
  const auto offset = static_cast<size_t>(std::ranges::max_element(gaps) - gaps.begin());
  Turns turns;
  for (size_t i = first + offset; i <= items.size(); i += found.period)
    turns.bounds.push_back(static_cast<u32>(i));
  if (turns.bounds.size() <= kLeastIterations) return std::nullopt;
  turns.mark = items[turns.bounds[0]].name;
  if (share_of(sequence, turns.bounds.front(), turns.bounds.back()) < kLeastShare) return std::nullopt;
  return turns;
}

}  // namespace spotter::trace
