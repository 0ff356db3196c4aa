#include "analyze/kernels/kernel_patterns.h"

#include <algorithm>
#include <queue>
#include <unordered_map>

#include "analyze/kernels/sequence_finder.h"
#include "base/saturated.h"

namespace spotter::analyze {
namespace {

using Symbol = u32;  // below `rules_from`: a kernel's name; else a rule

struct Rule {
  u32 length;             // in rows
  std::vector<u32> rows;  // where its occurrences begin, when it was made
  bool is_part = false;   // of a longer one, each time
};

// All streams one after the other; pairs do not reach over their ends.
class Pairing {
 public:
  explicit Pairing(const Trace& trace) : rules_from_(static_cast<Symbol>(trace.strings().size())) {
    const trace::DeviceWork& work = trace.device_work();
    const auto n = static_cast<u32>(work.event.size());
    next_.assign(n, kNone);
    previous_.assign(n, kNone);
    for (u32 row = 0; row < n; ++row) symbols_.push_back(trace.name[work.event[row]]);
    for (const trace::Stream& stream : work.streams)
      for (u32 row = stream.begin; row + 1 < stream.end; ++row) {
        next_[row] = row + 1;
        previous_[row + 1] = row;
        count(row);
      }
    for (const auto& [key, pair] : pairs_)
      if (pair.count >= 2) queue_.push({pair.count, pair.rows.front(), key});
  }

  std::vector<Rule> run() {
    while (!queue_.empty()) {
      const Candidate best = queue_.top();
      queue_.pop();
      const auto pair = pairs_.find(best.key);
      if (pair == pairs_.end() || pair->second.count < 2) continue;
      // It may occur less often by now. Where it occurs more often it was queued as such, too.
      if (pair->second.count < best.count)
        queue_.push({pair->second.count, best.first, best.key});
      else
        replace(best.key);
    }
    return std::move(rules_);
  }

 private:
  struct Pair {
    i64 count = 0;
    std::vector<u32> rows;  // where it has begun; some may be gone
  };
  struct Candidate {
    i64 count;
    u32 first;
    u64 key;
    bool operator<(const Candidate& o) const { return count != o.count ? count < o.count : first > o.first; }
  };

  static u64 key_of(Symbol left, Symbol right) { return u64{left} << 32 | right; }
  u64 key_at(u32 row) const { return key_of(symbols_[row], symbols_[next_[row]]); }
  bool is_pair(u32 row) const {
    return row != kNone && next_[row] != kNone &&
           !(is_rule(symbols_[row]) && symbols_[row] == symbols_[next_[row]]);
  }

  Pair& count(u32 row) {
    Pair& pair = pairs_[key_at(row)];
    pair.rows.push_back(row);
    ++pair.count;
    return pair;
  }
  void add(u32 row) {
    if (!is_pair(row)) return;
    const Pair& pair = count(row);
    if (pair.count >= 2) queue_.push({pair.count, pair.rows.front(), key_at(row)});
  }
  // The pair that is being replaced is not counted any more, nor is what is no pair.
  void remove(u32 row) {
    if (row == kNone || next_[row] == kNone) return;
    if (const auto pair = pairs_.find(key_at(row)); pair != pairs_.end()) --pair->second.count;
  }

  void replace(u64 key) {
    std::vector<u32> rows = std::move(pairs_.at(key).rows);
    pairs_.erase(key);
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    // Those that are gone, and of "aaa" the second "aa".
    u32 free_from = 0;
    std::erase_if(rows, [&](u32 row) {
      const bool is_gone =
          symbols_[row] == kNone || next_[row] == kNone || key_at(row) != key || row < free_from;
      if (!is_gone) free_from = next_[row] + 1;
      return is_gone;
    });
    if (rows.size() < 2) return;
    const auto left = static_cast<Symbol>(key >> 32), right = static_cast<Symbol>(key);
    const Symbol made = rules_from_ + static_cast<Symbol>(rules_.size());
    for (const Symbol part : {left, right})
      if (is_rule(part)) rule(part).is_part |= rule(part).rows.size() == rows.size();
    for (const u32 row : rows) {
      const u32 second = next_[row], before = previous_[row], after = next_[second];
      remove(before);
      remove(second);
      symbols_[row] = made;
      symbols_[second] = kNone;
      next_[row] = after;
      if (after != kNone) previous_[after] = row;
    }
    rules_.push_back({length_of(left) + length_of(right), rows, false});
    for (const u32 row : rows) {
      add(row);
      add(previous_[row]);  // no pair where it has been made just now, too
    }
  }
  bool is_rule(Symbol s) const { return s >= rules_from_; }
  Rule& rule(Symbol s) { return rules_[s - rules_from_]; }
  u32 length_of(Symbol s) { return is_rule(s) ? rule(s).length : 1; }

  Symbol rules_from_;
  std::vector<Symbol> symbols_;       // by row; kNone where an earlier one has taken it in
  std::vector<u32> next_, previous_;  // rows that begin a symbol of the same stream
  std::unordered_map<u64, Pair> pairs_;
  std::priority_queue<Candidate> queue_;
  std::vector<Rule> rules_;
};

// Sums over the rows before each, so that those of any stretch of a stream are a difference. Gaps are counted
// from 0 on each stream, each before its row.
struct Sums {
  std::vector<Ns> device = {0}, gaps = {0};
  explicit Sums(const Trace& trace) {
    const trace::DeviceWork& work = trace.device_work();
    for (const trace::Stream& stream : work.streams) {
      Ns end = stream.begin < stream.end ? work.start[stream.begin] : 0;
      for (u32 row = stream.begin; row < stream.end; ++row) {
        device.push_back(add_saturated(device.back(), work.end[row] - work.start[row]));
        gaps.push_back((row == stream.begin ? 0 : gaps.back()) + std::max<Ns>(0, work.start[row] - end));
        end = std::max(end, work.end[row]);
      }
    }
  }
};

// Launches of which all work is on one stream, without anything of others in between. Those of a graph may be
// of thousands of rows.
class Launches {
 public:
  explicit Launches(const Trace& trace) {
    const trace::DeviceWork& work = trace.device_work();
    std::vector<u32> started(trace.size());  // rows, per launch
    for (const EventId launch : work.launch)
      if (launch != kNone) ++started[launch];
    for (const trace::Stream& stream : work.streams)
      for (u32 begin = stream.begin, end = begin; begin < stream.end; begin = end) {
        const EventId launch = work.launch[begin];
        while (end < stream.end && work.launch[end] == launch) ++end;
        if (launch == kNone || started[launch] != end - begin) continue;
        begins_.push_back(begin);
        ends_.push_back(end);
        host_.push_back(add_saturated(host_.back(), trace.dur[launch]));
      }
  }

  // Adds those whose work is all in the rows [begin, end), without the first of them.
  void add_all_but_first(u32 begin, u32 end, KernelPattern& pattern) const {
    const auto first = static_cast<size_t>(std::ranges::lower_bound(begins_, begin) - begins_.begin());
    const auto last = static_cast<size_t>(std::ranges::upper_bound(ends_, end) - ends_.begin());
    if (last <= first + 1) return;
    pattern.launches += static_cast<i64>(last - first - 1);
    pattern.host = add_saturated(pattern.host, host_[last] - host_[first + 1]);
  }

 private:
  std::vector<u32> begins_, ends_;  // of each: its rows
  std::vector<Ns> host_ = {0};      // sums of the durations of those before
};

}  // namespace

std::vector<KernelPattern> kernel_patterns(const Trace& trace, size_t least) {
  const trace::DeviceWork& work = trace.device_work();
  std::vector<StringId> names;
  for (const EventId e : work.event) names.push_back(trace.name[e]);
  std::vector<KernelPattern> patterns;
  SequenceFinder finder;
  for (const Rule& rule : Pairing(trace).run()) {
    if (rule.is_part || rule.length < least) continue;
    const auto sequence = std::span<const StringId>(names).subspan(rule.rows[0], rule.length);
    if (finder.add(sequence) == patterns.size())
      patterns.push_back({.names = {sequence.begin(), sequence.end()}});
  }
  finder.finish();

  const Sums sums(trace);
  const Launches launches(trace);
  std::vector<u32> free_from(patterns.size());  // the row at which the last occurrence of each ends
  for (const trace::Stream& stream : work.streams) {
    const auto text = std::span<const StringId>(names).subspan(stream.begin, stream.end - stream.begin);
    finder.find(text, [&](u32 number, u32 at) {
      KernelPattern& pattern = patterns[number];
      const u32 row = stream.begin + at, end = row + static_cast<u32>(pattern.names.size());
      if (row < free_from[number]) return;
      free_from[number] = end;
      ++pattern.count;
      pattern.device = add_saturated(pattern.device, sums.device[end] - sums.device[row]);
      pattern.gaps = add_saturated(pattern.gaps, sums.gaps[end] - sums.gaps[row + 1]);
      launches.add_all_but_first(row, end, pattern);
    });
  }
  return patterns;
}

}  // namespace spotter::analyze
