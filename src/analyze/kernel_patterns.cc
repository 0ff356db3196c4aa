#include "analyze/kernel_patterns.h"

#include <algorithm>
#include <unordered_map>

namespace spotter {
namespace {

// The patterns of one length, numbered. Longer ones are found from shorter ones: a pattern is the one without
// its last row, and that row's name, so that each length costs one look-up per row.
struct Length {
  std::vector<u32> id_at;     // per row: of the pattern that begins there, or kNone
  std::vector<i64> count;     // per pattern: occurrences that do not overlap
  std::vector<u32> first;     // per pattern: row of its first occurrence
  std::vector<bool> is_part;  // per pattern: of a longer one with as many occurrences
};

// `shorter` null: the length is 1. `ends`: per row, the end of its stream.
Length lengthen(const Length* shorter, std::span<const StringId> names, std::span<const u32> ends,
                u32 length) {
  Length longer;
  longer.id_at.assign(names.size(), kNone);
  std::unordered_map<u64, u32> ids;
  std::vector<u32> free_from;  // per pattern: where its next occurrence may begin
  for (u32 row = 0; row < names.size(); ++row) {
    if (row + length > ends[row]) continue;
    const u32 head = shorter ? shorter->id_at[row] : 0;
    if (head == kNone || (shorter && shorter->count[head] < 2)) continue;
    const u64 key = u64{head} << 32 | names[row + length - 1];
    const auto [entry, is_new] = ids.try_emplace(key, static_cast<u32>(longer.count.size()));
    const u32 id = entry->second;
    if (is_new) {
      longer.count.push_back(0);
      longer.first.push_back(row);
      free_from.push_back(0);
    }
    longer.id_at[row] = id;
    if (row < free_from[id]) continue;
    ++longer.count[id];
    free_from[id] = row + length;
  }
  longer.is_part.assign(longer.count.size(), false);
  return longer;
}

// Those of `shorter` that begin or end a pattern of `longer` which occurs as often.
void mark_parts(Length& shorter, const Length& longer) {
  for (size_t id = 0; id < longer.count.size(); ++id) {
    for (const u32 row : {longer.first[id], longer.first[id] + 1}) {
      const u32 part = shorter.id_at[row];
      if (part != kNone && shorter.count[part] == longer.count[id]) shorter.is_part[part] = true;
    }
  }
}

void collect(const Trace& trace, const Length& found, std::span<const StringId> names, u32 length,
             std::vector<KernelPattern>& patterns) {
  const DeviceWork& work = trace.device_work();
  std::vector<u32> place(found.count.size(), kNone), free_from(found.count.size(), 0);
  for (size_t id = 0; id < found.count.size(); ++id) {
    if (found.count[id] < 2 || found.is_part[id]) continue;
    place[id] = static_cast<u32>(patterns.size());
    const auto begin = names.begin() + found.first[id];
    patterns.push_back({{begin, begin + length}, found.count[id], 0, 0, 0});
  }
  for (u32 row = 0; row < names.size(); ++row) {
    const u32 id = found.id_at[row];
    if (id == kNone || place[id] == kNone || row < free_from[id]) continue;
    free_from[id] = row + length;
    KernelPattern& pattern = patterns[place[id]];
    Ns end = work.start[row];
    EventId launch = work.launch[row];
    for (u32 r = row; r < row + length; ++r) {
      pattern.device += work.end[r] - work.start[r];
      pattern.gaps += std::max<Ns>(0, work.start[r] - end);
      end = std::max(end, work.end[r]);
      // A graph has launched several at once already.
      if (work.launch[r] != launch && work.launch[r] != kNone) pattern.host += trace.dur[work.launch[r]];
      launch = work.launch[r];
    }
  }
}

}  // namespace

std::vector<KernelPattern> kernel_patterns(const Trace& trace, size_t least, size_t most) {
  const DeviceWork& work = trace.device_work();
  std::vector<StringId> names;
  std::vector<u32> ends;
  for (const Stream& stream : work.streams)
    for (u32 row = stream.begin; row < stream.end; ++row) {
      names.push_back(trace.name[work.event[row]]);
      ends.push_back(stream.end);
    }
  std::vector<KernelPattern> patterns;
  Length shorter = lengthen(nullptr, names, ends, 1);
  for (u32 length = 1; length <= most; ++length) {
    // One longer than wanted tells which of the longest are but parts.
    Length longer = lengthen(&shorter, names, ends, length + 1);
    mark_parts(shorter, longer);
    if (length >= least) collect(trace, shorter, names, length, patterns);
    if (longer.count.empty()) break;
    shorter = std::move(longer);
  }
  return patterns;
}

}  // namespace spotter
