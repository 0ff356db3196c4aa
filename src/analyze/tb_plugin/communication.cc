#include "analyze/tb_plugin/communication.h"

#include <unordered_map>

#include "base/stable_sort.h"

namespace spotter::analyze::tb_plugin {
namespace {

bool is_longer_or_earlier(const UsInterval& a, const UsInterval& b) {
  return a.start != b.start ? a.start < b.start : a.end > b.end;
}

}  // namespace

Communication communication_of(const Trace& trace, const Events& events) {
  Communication found;
  std::unordered_map<i64, size_t> by_id;
  bool has_nccl = false, has_gloo = false;
  for (const Event& event : events.all) {
    if (event.type != EventType::op && event.type != EventType::annotation && event.type != EventType::python)
      continue;
    const std::string_view name = trace.name_of(event.id);
    if (!is_collective(name)) continue;
    (is_nccl(name) ? has_nccl : has_gloo) = true;
    // One with an id that another has takes its place: a copy on the device's timeline that of the host's.
    const i64 id = external_id(trace, event.id);
    const auto [place, is_new] = by_id.try_emplace(id, found.all.size());
    found.ids.insert(id);
    if (is_new) found.all.emplace_back();
    found.all[place->second] = {event.id, event.time, {event.time}};
  }
  found.is_mixed = has_nccl && has_gloo;
  for (const Event& event : events.all) {
    if (event.type != EventType::kernel || !has_nccl) continue;
    const auto own = by_id.find(external_id(trace, event.id));
    if (own != by_id.end()) found.all[own->second].ranges.push_back(event.time);
  }
  for (Collective& one : found.all) stable_sort(one.ranges, is_longer_or_earlier);
  stable_sort(found.all,
              [](const Collective& a, const Collective& b) { return is_longer_or_earlier(a.time, b.time); });
  return found;
}

}  // namespace spotter::analyze::tb_plugin
