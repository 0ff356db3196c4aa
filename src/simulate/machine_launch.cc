// What a rank launches on its compute stream, and how long it takes there.
#include <algorithm>

#include "simulate/hash.h"
#include "simulate/machine.h"

namespace spotter::simulate {
namespace {

constexpr Ns kSynchronizeCall = 1'500;

Ns part_of(Ns ns, i64 parts, i64 of) {
  return static_cast<Ns>(std::min(i128{ns} * parts / of, i128{kNever}));
}

}  // namespace

Ns Machine::call(Call call, Ns ns, Ns until) {
  const Ns start = now_;
  now_ = at_most_never(std::max(now_ + ns, until));
  ++correlation_;
  if (observer_ && now_ <= stop_) observer_->call({call, thread_, start, now_, correlation_});
  return start;
}

// No more than so many launches wait for the device: the host waits, too.
Ns Machine::start_on(StreamState& stream, Ns launched, Ns call_start) {
  Ns start = std::max(launched, call_start + kLaunchLatency);
  if (stream.end > 0) start = std::max(start, stream.end + kKernelGap);
  start = at_most_never(std::max(start, stream.not_before));
  queue_[launches_++ % queue_.size()] = start;
  return start;
}

void Machine::launch(const Instruction& i) {
  const Ns ns = stretched(i.ns, jitter(i, kOnHost));
  const DeviceWork& work = program_.work[i.what];
  const Ns work_time = stretched(work.ns, jitter(i, kOnDevice));
  inject(i, ns + work_time);
  i64 pieces = 1;
  for (size_t f = 0; work.kind == DeviceKind::compute && f < active_.size(); ++f) {
    if (!active_[f] || job_.spec.faults[f].type != FaultType::launch_bound) continue;
    pieces = job_.spec.faults[f].count;
    inject(f, part_of(ns + i.piece_ns, pieces - 1, 1));
  }
  for (i64 piece = 0; piece < pieces; ++piece) {
    if (piece > 0) now_ += i.piece_ns;
    launch_piece(i, ns, part_of(work_time, piece + 1, pieces) - part_of(work_time, piece, pieces));
  }
}

void Machine::launch_piece(const Instruction& i, Ns ns, Ns work) {
  const Ns start = call(i.call, ns, queue_[launches_ % queue_.size()]);
  tell_of_compute(i.what, run_on_compute(i.what, work, now_, start));
}

// The driver takes pageable memory through buffers of its own: it returns when the copy is done.
void Machine::copy(const Instruction& i) {
  const Ns ns = stretched(i.ns, jitter(i, kOnHost)),
           work = stretched(program_.work[i.what].ns, jitter(i, kOnDevice));
  inject(i, ns + work);
  const Ns launched = std::max(now_ + ns, queue_[launches_ % queue_.size()]);
  const Ns start = run_on_compute(i.what, work, launched, now_);
  call(i.call, ns, streams_[kCompute].end + kSynchronizeCall);
  tell_of_compute(i.what, start);
}

Ns Machine::run_on_compute(u32 what, Ns ns, Ns launched, Ns call_start) {
  StreamState& stream = streams_[kCompute];
  const Ns start = start_on(stream, launched, call_start);
  stream.end = at_most_never(start + (slows_device_ ? slowed(program_.work[what], ns, start) : ns));
  return start;
}

void Machine::tell_of_compute(u32 what, Ns start, u32 node) {
  const Ns end = streams_[kCompute].end;
  if (observer_ && end <= stop_)
    observer_->device({.work = what,
                       .stream = kCompute,
                       .start = start,
                       .end = end,
                       .correlation = correlation_,
                       .thread = thread_,
                       .graph = node > 0 ? graph_ : 0,
                       .node = node});
}

Ns Machine::slowed(const DeviceWork& work, Ns ns, Ns start) {
  for (size_t f = 0; f < active_.size(); ++f) {
    const Fault& fault = job_.spec.faults[f];
    if (!active_[f] || !slows_device(fault.type)) continue;
    if (work.kind != DeviceKind::compute && fault.type != FaultType::slow_rank) continue;
    if (fault.type == FaultType::imbalance && !work.in_layer) continue;
    if (fault.type == FaultType::low_efficiency && !work.is_product) continue;
    if (fault.type == FaultType::throttle && start < fault.from_ns) continue;
    const double factor = fault.type == FaultType::imbalance ? job_.shares.of(f, rank_, step_) : fault.factor;
    const Ns slow = stretched(ns, factor);
    inject(f, slow - ns);
    ns = slow;
  }
  return ns;
}

void Machine::wait(const Instruction& i) {
  const Ns ns = stretched(i.ns, jitter(i, kOnHost));
  inject(i, 2 * ns);
  call(Call::event_record, ns);
  const i64 record = correlation_;
  const Ns start = call(Call::stream_wait_event, ns);
  StreamState& waits = streams_[i.stream];
  waits.not_before = std::max(waits.not_before, streams_[i.what].done());
  if (observer_ && now_ <= stop_)
    observer_->synchronize({.stream = static_cast<Stream>(i.stream),
                            .is_of_stream = true,
                            .on = static_cast<Stream>(i.what),
                            .record = record,
                            .start = start,
                            .end = now_,
                            .correlation = correlation_});
}

void Machine::synchronize(const Instruction& i) {
  const Ns start = call(i.call, kSynchronizeCall, streams_[i.stream].done() + kSynchronizeCall);
  if (observer_ && now_ <= stop_)
    observer_->synchronize(
        {.stream = static_cast<Stream>(i.stream), .start = start, .end = now_, .correlation = correlation_});
}

}  // namespace spotter::simulate
