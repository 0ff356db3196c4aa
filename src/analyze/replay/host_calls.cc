#include "analyze/replay/host_calls.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace spotter::analyze {
namespace {

bool is_within(const Trace& trace, const HostItem& item, const CollectiveCall& call) {
  return item.event != kNone && trace.track[item.event] == trace.track[call.annotation] &&
         item.begin >= call.start && item.begin < call.end;
}

HostCall take(const Trace& trace, const CollectiveCall& call, HostItems& found) {
  HostCall own{.call = call, .start = call.start, .end = call.end};
  std::erase_if(found.items, [&](const HostItem& item) {
    if (item.kind != HostItem::Kind::sync || !is_within(trace, item, call)) return false;
    own.awaited.push_back(found.rows[item.first]);
    own.start = std::max(own.start, item.end);
    return true;
  });
  for (const HostItem& item : found.items)
    if (item.kind == HostItem::Kind::launch && item.begin >= own.start && is_within(trace, item, call))
      own.end = std::min(own.end, item.begin);
  own.end = std::max(own.start, own.end);
  return own;
}

}  // namespace

std::vector<HostCall> take_host_calls(const Trace& trace, const std::vector<CollectiveCall>& calls,
                                      HostItems& found) {
  std::vector<HostCall> all;
  std::map<u32, u32> streams;  // by thread
  for (const CollectiveCall& call : calls) {
    if (call.kernel != kNone || !call.is_timed || call.annotation == kNone) continue;
    HostCall own = take(trace, call, found);
    own.stream =
        streams.try_emplace(trace.track[call.annotation], static_cast<u32>(streams.size())).first->second;
    const auto number = static_cast<u32>(all.size());
    found.items.push_back({.kind = HostItem::Kind::issue,
                           .begin = call.start,
                           .end = call.start,
                           .event = call.annotation,
                           .first = number});
    found.items.push_back(
        {.kind = HostItem::Kind::arrival, .begin = own.end, .end = own.end, .event = kNone, .first = number});
    all.push_back(std::move(own));
  }
  if (!all.empty())
    std::ranges::sort(found.items, {},
                      [](const HostItem& i) { return std::tuple(i.begin, i.kind, i.event, i.first); });
  return all;
}

}  // namespace spotter::analyze
