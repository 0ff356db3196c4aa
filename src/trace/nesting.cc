#include "trace/nesting.h"

#include "trace/per_kind.h"
#include "trace/sort_runs.h"

namespace spotter::trace {
namespace {

constexpr u8 kNotHost = 0xff;

// Which of two equal intervals encloses the other: the lower number.
u8 depth_rank(const Kind& kind) {
  if (!kind.is_span || !is_host_span(kind.category)) return kNotHost;
  switch (kind.category) {
    case Category::user_annotation:
      return 0;
    case Category::python_function:
      return 1;
    case Category::cpu_op:
      return 2;
    default:
      return 3;
  }
}

// Fills `order` with the host spans of every track, each track's by row, and `threads`.
void group_by_track(const Trace& trace, const std::array<u8, 256>& rank, Nesting& nesting) {
  std::vector<u32> next(trace.tracks().size());
  for (EventId e = 0; e < trace.size(); ++e)
    if (rank[trace.kind[e]] != kNotHost) ++next[trace.track[e]];
  u32 begin = 0;
  for (u32 t = 0; t < next.size(); ++t) {
    const u32 size = next[t];
    if (size > 0) nesting.threads.push_back({t, begin, begin + size});
    next[t] = begin;
    begin += size;
  }
  nesting.order.resize(begin);
  for (EventId e = 0; e < trace.size(); ++e)
    if (rank[trace.kind[e]] != kNotHost) nesting.order[next[trace.track[e]]++] = e;
}

// The parents of one sorted thread. `open` holds, outermost first, the spans that may still enclose another
// one; their ends never rise towards the innermost. A span that ends before the one at hand can enclose
// nothing that comes later and that the one at hand does not enclose more tightly, so it leaves.
void find_parents(const Trace& trace, const Nesting::Thread& thread, std::vector<u32>& open,
                  Nesting& nesting) {
  open.clear();
  for (u32 i = thread.begin; i < thread.end; ++i) {
    const EventId e = nesting.order[i];
    const Ns start = trace.ts[e], end = trace.end(e);
    bool overlaps = false;
    while (!open.empty() && trace.end(nesting.order[open.back()]) < end) {
      overlaps |= trace.end(nesting.order[open.back()]) > start;
      open.pop_back();
    }
    nesting.partial_overlaps += overlaps;
    nesting.parent[i] = open.empty() ? kNone : open.back();
    open.push_back(i);
  }
}

}  // namespace

Nesting compute_nesting(const Trace& trace) {
  const auto rank = per_kind(trace, depth_rank);
  const auto encloses = [&](EventId a, EventId b) {  // or comes before
    if (trace.ts[a] != trace.ts[b]) return trace.ts[a] < trace.ts[b];
    if (trace.dur[a] != trace.dur[b]) return trace.dur[a] > trace.dur[b];
    return rank[trace.kind[a]] < rank[trace.kind[b]];
  };

  Nesting nesting;
  group_by_track(trace, rank, nesting);
  nesting.parent.resize(nesting.order.size());
  std::vector<u32> spare, open;
  for (const Nesting::Thread& thread : nesting.threads) {
    sort_runs(std::span(nesting.order).subspan(thread.begin, thread.end - thread.begin), spare, encloses);
    find_parents(trace, thread, open, nesting);
  }
  return nesting;
}

}  // namespace spotter::trace

namespace spotter {

const trace::Nesting& Trace::nesting() const {
  return nesting_.get([this] { return trace::compute_nesting(*this); });
}

}  // namespace spotter
