#include "analyze/operators/span_tree.h"

#include "analyze/operators/threads.h"

namespace spotter::analyze {

SpanTree::SpanTree(const Trace& trace) : trace_(trace), nesting_(trace.nesting()), parent_(nesting_.parent) {
  const u32 main = main_track(trace);
  const std::vector<u32> autograd = autograd_tracks(trace);
  self_.resize(parent_.size());
  for (u32 i = 0; i < parent_.size(); ++i) {
    self_[i] += trace_.dur[nesting_.order[i]];
    if (parent_[i] != kNone) self_[parent_[i]] -= trace_.dur[nesting_.order[i]];
  }
  for (const trace::Nesting::Thread& thread : nesting_.threads)
    if (thread.track == main) main_ = thread;
  for (const trace::Nesting::Thread& thread : nesting_.threads)
    if (thread.track != main && std::ranges::binary_search(autograd, thread.track)) find_callers(thread);
  add_up();
  link_forward();
}

void SpanTree::find_callers(const trace::Nesting::Thread& thread) {
  u32 last = kNone;  // the last span of the main thread that has begun, or what is still open around it
  u32 next = main_.begin;
  for (u32 i = thread.begin; i < thread.end; ++i) {
    if (parent_[i] != kNone) continue;
    const EventId e = nesting_.order[i];
    while (next < main_.end && trace_.ts[nesting_.order[next]] <= trace_.ts[e]) last = next++;
    // What has ended by now has ended for all that follow.
    while (last != kNone && trace_.end(nesting_.order[last]) < trace_.ts[e]) last = nesting_.parent[last];
    u32 caller = last;
    while (caller != kNone && trace_.end(nesting_.order[caller]) < trace_.end(e))
      caller = nesting_.parent[caller];
    parent_[i] = caller;
  }
}

void SpanTree::add_up() {
  const trace::DeviceWork& work = trace_.device_work();
  std::vector<u32> index(trace_.size(), kNone);
  for (u32 i = 0; i < nesting_.order.size(); ++i) index[nesting_.order[i]] = i;
  below_.resize(parent_.size());
  depth_.resize(parent_.size());
  for (u32 row = 0; row < work.event.size(); ++row)
    if (work.launch[row] != kNone)
      below_[index[work.launch[row]]].merge(
          {1, work.end[row] - work.start[row], work.start[row], work.end[row]});
  // Parents come before their children on a thread, and callers are on the main thread.
  std::vector<trace::Nesting::Thread> threads = {main_};
  for (const trace::Nesting::Thread& thread : nesting_.threads)
    if (thread.track != main_.track) threads.push_back(thread);
  for (const trace::Nesting::Thread& thread : threads)
    for (u32 i = thread.begin; i < thread.end; ++i)
      if (parent_[i] != kNone) depth_[i] = depth_[parent_[i]] + 1;
  std::ranges::reverse(threads);
  for (const trace::Nesting::Thread& thread : threads)
    for (u32 i = thread.end; i-- > thread.begin;)
      if (parent_[i] != kNone) below_[parent_[i]].merge(below_[i]);
}

void SpanTree::link_forward() {
  forward_.assign(parent_.size(), kNone);
  const trace::ForwardLinks links(trace_);
  for (u32 i = 0; i < nesting_.order.size(); ++i) {
    const EventId e = nesting_.order[i];
    if (links.backward().has(e)) forward_[i] = links.forward(links.node(e));
  }
}

}  // namespace spotter::analyze
