#include "analyze/tb_plugin/launches.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

namespace spotter::analyze::tb_plugin {

Launches launches_of(const Trace& trace, const Events& events) {
  Launches found;
  std::unordered_map<i64, u32> launch_of;             // by correlation; the last one that came
  std::unordered_map<i64, std::vector<u32>> waiting;  // work that came before its launch
  for (u32 i = 0; i < events.all.size(); ++i) {
    const Event& event = events.all[i];
    if (event.type != EventType::runtime && !is_device_work(event.type)) continue;
    const i64 correlation = trace.integer(event.id, Arg::correlation).value_or(kNoId);
    if (event.type == EventType::runtime) {
      launch_of[correlation] = static_cast<u32>(found.all.size());
      Launch& launch = found.all.emplace_back();
      launch.event = i;
      if (auto work = waiting.extract(correlation)) launch.work = std::move(work.mapped());
      continue;
    }
    const auto launch = launch_of.find(correlation);
    (launch == launch_of.end() ? waiting[correlation] : found.all[launch->second].work).push_back(i);
  }
  Launch unlaunched;
  for (const auto& [correlation, work] : waiting)
    std::ranges::copy_if(work, std::back_inserter(unlaunched.work),
                         [&](u32 i) { return events.all[i].type == EventType::kernel; });
  std::ranges::sort(unlaunched.work);
  found.has_unlaunched = !unlaunched.work.empty();
  if (found.has_unlaunched) found.all.push_back(std::move(unlaunched));
  return found;
}

}  // namespace spotter::analyze::tb_plugin
