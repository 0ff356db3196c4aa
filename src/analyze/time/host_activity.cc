#include "analyze/time/host_activity.h"

#include <span>

namespace spotter::analyze {

HostActivity::HostActivity(const Trace& trace) : trace_(trace), nesting_(trace.nesting()) {
  for (u32 t = 0; t < nesting_.threads.size(); ++t) thread_of_.emplace(nesting_.threads[t].track, t);
}

u32 HostActivity::first_after(const trace::Nesting::Thread& thread, Ns time) const {
  const auto order = std::span(nesting_.order).subspan(thread.begin, thread.end - thread.begin);
  const auto after = std::ranges::upper_bound(order, time, {}, [&](EventId e) { return trace_.ts[e]; });
  return thread.begin + static_cast<u32>(after - order.begin());
}

u32 HostActivity::open_at(u32 place, Ns time) const {
  while (place != kNone && trace_.end(nesting_.order[place]) <= time) place = nesting_.parent[place];
  return place;
}

u32 HostActivity::named(u32 place) const {
  while (place != kNone && is_step_mark(trace_.steps(), trace_.name_of(nesting_.order[place])))
    place = nesting_.parent[place];
  return place;
}

}  // namespace spotter::analyze
