#include "analyze/operators/threads.h"

#include "trace/forward_links.h"
#include "trace/nesting.h"
#include "trace/per_kind.h"
#include "trace/steps.h"

namespace spotter::analyze {

u32 main_track(const Trace& trace) {
  const trace::Nesting& nesting = trace.nesting();
  const std::string& mark = trace.steps().mark_name;
  u32 best = kNone;
  Ns longest = -1;
  for (const trace::Nesting::Thread& thread : nesting.threads) {
    Ns covered = 0;
    for (u32 i = thread.begin; i < thread.end; ++i) {
      const EventId e = nesting.order[i];
      if (!mark.empty() && trace.name_of(e).starts_with(mark) && !is_host_call(trace.category(e)))
        return thread.track;
      if (nesting.parent[i] == kNone) covered += trace.dur[e];
    }
    if (covered > longest) {
      longest = covered;
      best = thread.track;
    }
  }
  return best;
}

std::vector<u32> autograd_tracks(const Trace& trace) {
  const auto is_flow_end = trace::per_kind(trace, [](const Kind& k) {
    return k.category == Category::flow_fwdbwd && (k.phase == 'f' || k.phase == 't');
  });
  const trace::BackwardOperators backward(trace);
  std::vector<u8> has(trace.tracks().size());
  for (EventId e = 0; e < trace.size(); ++e)
    if (!has[trace.track[e]]) has[trace.track[e]] = is_flow_end[trace.kind[e]] || backward.has(e);
  std::vector<u32> tracks;
  for (u32 t = 0; t < has.size(); ++t)
    if (has[t]) tracks.push_back(t);
  return tracks;
}

}  // namespace spotter::analyze
