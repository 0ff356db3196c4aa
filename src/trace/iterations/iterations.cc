#include "trace/iterations/iterations.h"

#include <algorithm>
#include <limits>

#include "trace/device_work.h"
#include "trace/iterations/backward_pass.h"
#include "trace/iterations/turns.h"
#include "trace/nesting.h"

namespace spotter::trace {
namespace {

// Spans around a call, on its thread.
class Around {
 public:
  explicit Around(const Trace& trace) : trace_(trace), nesting_(trace.nesting()) {}

  // The outermost span around the event, or that itself, of those within [from, to].
  EventId outermost(EventId event, Ns from, Ns to) const {
    u32 i = place_of(event);
    if (i == kNone) return event;
    for (u32 p = nesting_.parent[i]; p != kNone; p = nesting_.parent[p]) {
      const EventId e = nesting_.order[p];
      if (trace_.ts[e] < from || trace_.end(e) > to) break;
      i = p;
    }
    return nesting_.order[i];
  }

 private:
  u32 place_of(EventId event) const {
    const auto thread = std::ranges::find(nesting_.threads, trace_.track[event], &Nesting::Thread::track);
    if (thread == nesting_.threads.end()) return kNone;
    const auto begin = nesting_.order.begin() + thread->begin, end = nesting_.order.begin() + thread->end;
    const auto start = [&](EventId e) { return trace_.ts[e]; };
    for (auto at = std::ranges::lower_bound(begin, end, trace_.ts[event], {}, start);
         at != end && trace_.ts[*at] == trace_.ts[event]; ++at)
      if (*at == event) return static_cast<u32>(at - nesting_.order.begin());
    return kNone;
  }

  const Trace& trace_;
  const Nesting& nesting_;
};

std::vector<Window> windows_of(const Trace& trace, const WorkSequence& sequence, const Turns& turns) {
  constexpr Ns kFirst = std::numeric_limits<Ns>::min(), kLast = std::numeric_limits<Ns>::max();
  const Around around(trace);
  const std::vector<WorkItem>& items = sequence.items;
  std::vector<Window> windows;
  for (size_t t = 0; t + 1 < turns.bounds.size(); ++t) {
    const u32 first = turns.bounds[t], next = turns.bounds[t + 1];
    const Ns from = first == 0 ? kFirst : items[first - 1].end;
    const Ns to = next == items.size() ? kLast : items[next].start;
    const Ns start = trace.ts[around.outermost(items[first].event, from, to)];
    if (!windows.empty()) {
      if (start <= windows.back().start) return {};  // of one launch, such as a graph of several turns
      windows.back().end = start;
    }
    windows.push_back({start, start});
  }
  const WorkItem& last = items[turns.bounds.back() - 1];
  windows.back().end =
      std::max(last.end, trace.end(around.outermost(last.event, windows.back().start, kLast)));
  return windows;
}

}  // namespace

Iterations find_iterations(const Trace& trace) {
  if (has_backward_pass(trace)) return {};
  const WorkSequence sequence = work_sequence(trace);
  if (sequence.items.size() < kLeastIterations) return {};
  const bool has_device_work = !trace.device_work().event.empty();
  std::optional<Turns> turns = find_turns(sequence, trace.strings().size(), has_device_work);
  if (!turns) turns = find_period(sequence);
  if (!turns) return {};

  Iterations found;
  found.windows = windows_of(trace, sequence, *turns);
  if (found.windows.empty()) return {};
  found.mark = turns->mark;
  size_t with_graph = 0;
  for (size_t t = 0; t + 1 < turns->bounds.size(); ++t) {
    const auto is_graph = [](const WorkItem& i) { return i.what == WorkItem::What::graph_launch; };
    const auto begin = sequence.items.begin();
    const auto graph = std::find_if(begin + turns->bounds[t], begin + turns->bounds[t + 1], is_graph);
    if (graph == begin + turns->bounds[t + 1]) continue;
    if (with_graph++ == 0) found.mark = graph->name;
  }
  found.from_graphs = 2 * with_graph >= found.windows.size();
  if (!found.from_graphs) found.mark = turns->mark;
  if (!has_device_work && !found.from_graphs) return {};
  return found;
}

}  // namespace spotter::trace
