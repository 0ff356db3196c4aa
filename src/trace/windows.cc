#include "trace/windows.h"

#include <algorithm>

#include "trace/links.h"

namespace spotter::trace {

void Windows::add(Ns start, Ns end) {
  if (!all_.empty() && start <= all_.back().end)
    all_.back().end = std::max(all_.back().end, end);
  else
    all_.push_back({start, end});
}

bool Windows::contain(Ns ts) const {
  const auto after = std::upper_bound(all_.begin(), all_.end(), ts,
                                      [](Ns wanted, const Window& w) { return wanted < w.start; });
  return after != all_.begin() && ts < std::prev(after)->end;
}

std::vector<EventId> rows_in(const Trace& trace, const Windows& windows) {
  const LaunchLinks& links = trace.links();
  std::vector<EventId> keep;
  size_t device = 0;  // the first device row not before e
  for (EventId e = 0; e < trace.size(); ++e) {
    EventId decides = e;
    if (device < links.device.size() && links.device[device] == e) {
      if (links.launch[device] != kNone) decides = links.launch[device];
      ++device;
    }
    if (trace.kind_of(e).phase == 'M' || windows.contain(trace.ts[decides])) keep.push_back(e);
  }
  return keep;
}

}  // namespace spotter::trace
