#include "analyze/replay/blocked_launches.h"

#include <algorithm>
#include <vector>

namespace spotter::analyze {
namespace {

constexpr Ns kBlocked = 200'000;  // as long as a host that launches nothing does something else
constexpr Ns kClocks = 10'000;    // what clocks of host and device are apart by where they agree

// Where in its call it launches.
Ns launches_at(const HostItem& item, const HostItems& found) { return item.end - found.usual_call; }

// Whether nothing of it began before, and no other thread did anything meanwhile.
bool is_blocked(const trace::DeviceWork& work, const HostItems& found, size_t i) {
  const HostItem& item = found.items[i];
  const Ns at = launches_at(item, found);
  if (item.kind != HostItem::Kind::launch || item.event == kNone || at - item.begin <= kBlocked) return false;
  if (i + 1 < found.items.size() && found.items[i + 1].begin < at) return false;
  const auto rows = std::span(found.rows).subspan(item.first, item.count);
  return std::ranges::all_of(rows, [&](u32 row) {
    return work.kind[row] != trace::WorkKind::memory && work.start[row] >= at - kClocks &&
           outstanding(work, row, item.begin) < kFullQueue;
  });
}

}  // namespace

i64 outstanding(const trace::DeviceWork& work, u32 row, Ns time) {
  const auto stream = std::ranges::upper_bound(work.streams, row, {}, &trace::Stream::begin) - 1;
  const auto here = work.start.begin() + row;
  return here - std::upper_bound(work.start.begin() + stream->begin, here, time);
}

void split_blocked_launches(const Trace& trace, HostItems& found) {
  const trace::DeviceWork& work = trace.device_work();
  std::vector<u8> launched(trace.strings().size());  // kernels, by name
  std::vector<HostItem> items;
  items.reserve(found.items.size());
  for (size_t i = 0; i < found.items.size(); ++i) {
    HostItem item = found.items[i];
    const bool is_split = is_blocked(work, found, i);
    bool is_first = false;
    for (u32 k = 0; item.kind == HostItem::Kind::launch && k < item.count; ++k) {
      const u32 row = found.rows[item.first + k];
      u8& before = launched[trace.name[work.event[row]]];
      is_first |= before == 0 && work.kind[row] == trace::WorkKind::compute;
      before = 1;
    }
    if (is_split) {
      const Ns at = launches_at(item, found);
      items.push_back({.kind = HostItem::Kind::pause,
                       .cause = is_first ? Cause::compilation : Cause::silence,
                       .begin = item.begin,
                       .end = at,
                       .event = item.event});
      item.begin = at;
    }
    items.push_back(item);
  }
  found.items = std::move(items);
}

}  // namespace spotter::analyze
