#include "analyze/operators/threads.h"

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
  const auto is_operator =
      trace::per_kind(trace, [](const Kind& k) { return k.is_span && k.category == Category::cpu_op; });
  std::vector<u8> is_mark(trace.strings().size());
  for (StringId s = 0; s < is_mark.size(); ++s)
    is_mark[s] = trace.strings()[s].starts_with("autograd::engine::evaluate_function");
  std::vector<u8> has(trace.tracks().size());
  const auto is_backward = [&](EventId e) {
    return is_mark[trace.name[e]] || trace.integer(e, Arg::fwd_thread_id).value_or(0) > 0;
  };
  for (EventId e = 0; e < trace.size(); ++e)
    if (!has[trace.track[e]])
      has[trace.track[e]] = is_flow_end[trace.kind[e]] || (is_operator[trace.kind[e]] && is_backward(e));
  std::vector<u32> tracks;
  for (u32 t = 0; t < has.size(); ++t)
    if (has[t]) tracks.push_back(t);
  return tracks;
}

}  // namespace spotter::analyze
