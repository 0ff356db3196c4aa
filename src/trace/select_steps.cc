#include <algorithm>

#include "trace/links.h"
#include "trace/steps.h"

namespace spotter {
namespace {

// Disjoint intervals [start, end), ascending.
class Windows {
 public:
  explicit Windows(const std::vector<Step>& steps) {
    for (const Step& step : steps) {  // by start
      if (!all_.empty() && step.start <= all_.back().end)
        all_.back().end = std::max(all_.back().end, step.end);
      else
        all_.push_back(step);
    }
  }

  bool contain(Ns ts) const {
    const auto after = std::upper_bound(all_.begin(), all_.end(), ts,
                                        [](Ns wanted, const Step& w) { return wanted < w.start; });
    return after != all_.begin() && ts < std::prev(after)->end;
  }

 private:
  std::vector<Step> all_;
};

}  // namespace

std::unique_ptr<Trace> select_steps(const Trace& trace, i64 first, i64 last) {
  Steps wanted = trace.steps();
  std::erase_if(wanted.steps, [&](const Step& s) { return s.number < first || s.number > last; });
  const Windows windows(wanted.steps);
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
  return trace.rows(keep, std::move(wanted));
}

}  // namespace spotter
