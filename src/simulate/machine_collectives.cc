// A rank's part in collectives.
#include <algorithm>

#include "simulate/hash.h"
#include "simulate/machine.h"

namespace spotter::simulate {

using Way = Collective::Way;

Meeting Machine::next_meeting(const Collective& c) {
  const Layout& layout = job_.layout;
  switch (c.way) {
    case Way::all:
      return {rendezvous_.group_channel(c.group, layout.group(c.group, rank_)),
              meetings_.of_group[static_cast<size_t>(c.group)]++};
    case Way::exchange_next:
      return {rendezvous_.exchange_channel(rank_), meetings_.exchange_next++};
    case Way::exchange_previous:
      return {rendezvous_.exchange_channel(layout.previous_stage(rank_)), meetings_.exchange_previous++};
    case Way::send_next:
      return {rendezvous_.send_channel(rank_, true), meetings_.send_next++};
    case Way::send_previous:
      return {rendezvous_.send_channel(rank_, false), meetings_.send_previous++};
    case Way::receive_next:
      return {rendezvous_.send_channel(layout.next_stage(rank_), false), meetings_.receive_next++};
    case Way::receive_previous:
      return {rendezvous_.send_channel(layout.previous_stage(rank_), true), meetings_.receive_previous++};
  }
  return {};
}

// The same for all members: it depends on nothing that is a rank's own.
Ns Machine::collective_ns(const Collective& c, u32 instance, bool injects) {
  const auto kind = static_cast<size_t>(c.group);
  const i64 group = job_.layout.group(c.group, rank_);
  const Ns plain = stretched(transfer_ns(links_[kind], c.bytes, c.rounds), c.scale);
  const u64 hash =
      mix(mix(static_cast<u64>(job_.spec.seed), kind + 1), mix(static_cast<u64>(group), instance));
  Ns ns = stretch_ == 0 ? plain : stretched(plain, 1 + stretch_ * (2 * unit(hash) - 1));
  if (job_.spec.noise != Noise::quiet) ns = stretched(ns, tail(job_.spec.noise, hash));
  for (size_t f = 0; f < active_.size(); ++f) {
    const Fault& fault = job_.spec.faults[f];
    if (!active_[f] || fault.type != FaultType::slow_link || !goes_over(fault, c)) continue;
    const Ns slow = stretched(ns, fault.factor);
    if (injects) inject(f, slow - ns);
    ns = slow;
  }
  return ns;
}

bool Machine::goes_over(const Fault& link, const Collective& c) const {
  const Layout& layout = job_.layout;
  const i64 group = layout.group(c.group, rank_);
  if (!link.pair) return link.group == c.group && link.groups.has(group);
  switch (c.way) {
    case Way::all:
      return layout.group(c.group, link.pair->one) == group &&
             layout.group(c.group, link.pair->other) == group;
    case Way::send_next:
    case Way::receive_next:
    case Way::exchange_next:
      return link.pair->is(rank_, layout.next_stage(rank_));
    case Way::send_previous:
    case Way::receive_previous:
    case Way::exchange_previous:
      return link.pair->is(rank_, layout.previous_stage(rank_));
  }
  return false;
}

void Machine::collective(const Instruction& i) {
  for (size_t f = 0; f < active_.size(); ++f) {
    if (!active_[f] || job_.spec.faults[f].type != FaultType::hang) continue;
    hang_at_ = std::min(hang_at_, now_);
    now_ = kNever;
    return;
  }
  const Collective& c = program_.collectives[i.what];
  StreamState& stream = streams_[i.stream];
  const bool is_in_graph = i.id > 0;
  const Ns call_start =
      is_in_graph ? graph_call_start_
                  : call(i.call, stretched(i.ns, jitter(i, kOnHost)), queue_[launches_ % queue_.size()]);
  const Ns start = start_on(stream, now_, call_start);
  const Meeting meeting = next_meeting(c);
  const Ns ns = collective_ns(c, meeting.instance, start < kNever);
  const bool sends = c.way == Way::send_next || c.way == Way::send_previous;
  if (sends) {
    rendezvous_.arrive(meeting, start, 0);
    stream.end = at_most_never(start + ns);
  } else if (start >= kNever) {
    stream.end = kNever;
  } else {
    const bool meets = c.way == Way::all || c.exchanges();
    if (meets) rendezvous_.arrive(meeting, start, ns);
    stream.pending = meeting;
    stream.pending_start = start;
    stream.pending_ns = meets ? 0 : ns;
  }
  if (!observer_) return;
  settle(stream);
  if (stream.end <= stop_)
    observer_->device({.work = c.work,
                       .stream = static_cast<Stream>(i.stream),
                       .start = start,
                       .end = stream.end,
                       .correlation = correlation_,
                       .thread = thread_,
                       .collective = i.what,
                       .sequence = meeting.instance + 1,
                       .transfer = ns,
                       .graph = is_in_graph ? graph_ : 0,
                       .node = is_in_graph ? ++node_ : 0});
}

}  // namespace spotter::simulate
