#include "analyze/replay/gap_cover.h"

#include <algorithm>

#include "trace/steps.h"

namespace spotter::analyze {

GapCover::GapCover(const Trace& trace, std::span<const u32> tracks)
    : trace_(trace), nesting_(trace.nesting()) {
  LineUnions<1> lines;
  for (const trace::Nesting::Thread& thread : nesting_.threads) {
    if (!std::ranges::binary_search(tracks, thread.track)) continue;
    threads_.push_back(&thread);
    lines.next_line();
    for (u32 i = thread.begin; i < thread.end; ++i) {
      const EventId e = nesting_.order[i];
      const Category category = trace.category(e);
      if (category == Category::cpu_op || is_host_call(category)) lines.add(0, trace.ts[e], trace.end(e));
    }
  }
  covered_ = std::move(std::move(lines).united()[0]);
  Ns sum = 0;
  for (const Interval& i : covered_) {
    before_.push_back(sum);
    sum += i.end - i.start;
  }
}

Ns GapCover::covered(Ns begin, Ns end) const {
  const auto until = [&](Ns time) -> Ns {
    const auto after = std::ranges::upper_bound(covered_, time, {}, &Interval::start);
    if (after == covered_.begin()) return 0;
    const auto last = static_cast<size_t>(after - covered_.begin() - 1);
    return before_[last] + std::min(time, covered_[last].end) - covered_[last].start;
  };
  return until(end) - until(begin);
}

const trace::Nesting::Thread* GapCover::thread_of(EventId e) const {
  const auto found = std::ranges::find(threads_, trace_.track[e], &trace::Nesting::Thread::track);
  return found == threads_.end() ? nullptr : *found;
}

// Whether the span at this place says what was done: no mark of a step, and no part of the profiler.
bool GapCover::names(u32 place) const {
  return !is_step_mark(trace_.steps(), trace_.name_of(nesting_.order[place]));
}

StringId GapCover::name_in(Ns begin, Ns end, EventId next) const {
  const Ns middle = begin + (end - begin) / 2;
  StringId best = 0;
  Ns shortest = kMaxTime;
  for (const trace::Nesting::Thread* thread : threads_) {
    if (next != kNone && thread->track != trace_.track[next]) continue;
    const auto order = std::span(nesting_.order).subspan(thread->begin, thread->end - thread->begin);
    const auto after = std::ranges::upper_bound(order, middle, {}, [&](EventId e) { return trace_.ts[e]; });
    if (after == order.begin()) continue;
    for (u32 i = thread->begin + static_cast<u32>(after - order.begin()) - 1; i != kNone;
         i = nesting_.parent[i]) {
      const EventId e = nesting_.order[i];
      const Ns overlap = std::min(end, trace_.end(e)) - std::max(begin, trace_.ts[e]);
      if (2 * overlap < end - begin || !names(i)) continue;
      if (trace_.dur[e] < shortest) best = trace_.name[e];
      shortest = std::min(shortest, trace_.dur[e]);
      break;
    }
  }
  return best;
}

StringId GapCover::around(EventId call) const {
  const trace::Nesting::Thread* thread = thread_of(call);
  if (!thread) return trace_.name[call];
  const auto order = std::span(nesting_.order).subspan(thread->begin, thread->end - thread->begin);
  auto at = std::ranges::lower_bound(order, trace_.ts[call], {}, [&](EventId e) { return trace_.ts[e]; });
  while (at != order.end() && *at != call && trace_.ts[*at] == trace_.ts[call]) ++at;
  if (at == order.end() || *at != call) return trace_.name[call];
  for (u32 i = nesting_.parent[thread->begin + static_cast<u32>(at - order.begin())]; i != kNone;
       i = nesting_.parent[i]) {
    const Category category = trace_.category(nesting_.order[i]);
    if ((category == Category::cpu_op || category == Category::user_annotation) && names(i))
      return trace_.name[nesting_.order[i]];
  }
  return trace_.name[call];
}

}  // namespace spotter::analyze
