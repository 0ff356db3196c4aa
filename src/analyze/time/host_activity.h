// HostActivity: what a thread of the host did in a stretch of time, by the innermost span at each moment.
#pragma once
#include <algorithm>
#include <unordered_map>

#include "trace/nesting.h"
#include "trace/steps.h"
#include "trace/trace.h"

namespace spotter::analyze {

class HostActivity {
 public:
  explicit HostActivity(const Trace& trace);

  // Calls use(place, ns) for each piece of [begin, end), in order: place is that of the innermost span in
  // Nesting::order, kNone where no span but a step's mark is there. The pieces add up to the whole.
  template <class F>
  void for_each(u32 track, Ns begin, Ns end, F&& use) const {
    const auto found = thread_of_.find(track);
    if (found == thread_of_.end()) {
      use(kNone, end - begin);
      return;
    }
    const trace::Nesting::Thread& thread = nesting_.threads[found->second];
    u32 next = first_after(thread, begin);
    u32 inside = open_at(next == thread.begin ? kNone : next - 1, begin);
    for (Ns time = begin; time < end;) {
      const Ns starts = next < thread.end ? trace_.ts[nesting_.order[next]] : kMaxTime;
      const Ns ends = inside == kNone ? kMaxTime : trace_.end(nesting_.order[inside]);
      const Ns until = std::min({end, starts, ends});
      if (until > time) use(named(inside), until - time);
      time = until;
      if (time == end) return;
      if (ends <= starts)
        inside = open_at(inside, time);
      else
        inside = next++;
    }
  }
  // The span around the one at this place, but for a step's mark; kNone: there is none.
  u32 around(u32 place) const { return named(nesting_.parent[place]); }

 private:
  u32 first_after(const trace::Nesting::Thread& thread, Ns time) const;
  // Of a span and those around it the first that has not ended.
  u32 open_at(u32 place, Ns time) const;
  // Of a span and those around it the first that is no step's mark.
  u32 named(u32 place) const;

  const Trace& trace_;
  const trace::Nesting& nesting_;
  std::unordered_map<u32, u32> thread_of_;  // by track
};

}  // namespace spotter::analyze
