#include "simulate/machine.h"

#include <algorithm>

#include "base/saturated.h"
#include "simulate/hash.h"
#include "simulate/inference.h"

namespace spotter::simulate {
namespace {

constexpr Ns kBetweenSteps = 9'000;

}  // namespace

Machine::Machine(const Job& job, i64 rank, Rendezvous& rendezvous, Observer* observer, Ns stop)
    : job_(job),
      program_(job.program(rank)),
      rank_(rank),
      rendezvous_(rendezvous),
      observer_(observer),
      stop_(stop),
      queue_(kLaunchQueue),
      active_(job.spec.faults.size()),
      stretch_(static_cast<double>(job.spec.jitter_percent) / 100),
      device_factor_(device_factor(job.spec.noise, job.spec.seed, rank)),
      injected_(job.spec.faults.size() * static_cast<size_t>(job.spec.steps)) {
  for (size_t k = 0; k < kGroupKinds; ++k) {
    const auto kind = static_cast<GroupKind>(k);
    links_[k] = link_of(job.layout, kind, job.layout.group(kind, rank));
  }
  const u64 hash = mix(mix(static_cast<u64>(job.spec.seed)), static_cast<u64>(rank));
  now_ = stretch_ > 0 ? static_cast<Ns>(hash % 20'000) : 0;
}

bool Machine::run() {
  while (step_ < job_.spec.steps && now_ <= stop_ && now_ < kNever) {
    if (!in_step_ && job_.is_cancelled()) return true;
    if (!in_step_) begin_step();
    const Instruction& i = program_.code[at_];
    if ((i.fault == 0 || active_[i.fault - 1u]) && (step_ == 0 || !i.first_step_only) &&
        runs(i.when, job_.spec, step_)) {
      if (!can_run(i)) return false;
      execute(i);
    }
    if (++at_ == program_.code.size()) end_step();
  }
  return true;
}

void Machine::begin_step() {
  in_step_ = true;
  const i64 number = job_.spec.first_step + step_;
  step_hash_ = step_hash(job_.spec.seed, rank_, step_);
  hiccup_place_ = hiccup_place(job_.spec.noise, step_hash_, program_.places);
  slows_device_ = false;
  for (size_t f = 0; f < active_.size(); ++f) {
    const Fault& fault = job_.spec.faults[f];
    active_[f] = fault.is_at(rank_, number);
    slows_device_ |= active_[f] && slows_device(fault.type);
  }
}

void Machine::end_step() {
  if (now_ < kNever && now_ <= stop_) {
    step_ns_.push_back(now_ - step_start_);
    step_ends_.push_back(now_);
  }
  if (observer_) observer_->end_step(now_);
  now_ += kBetweenSteps;
  in_step_ = false;
  at_ = 0;
  ++step_;
}

// Whether the last work of the stream has an end, or will.
bool Machine::settle(StreamState& stream) {
  if (stream.pending.channel == kNone) return true;
  const Ns end = rendezvous_.end(stream.pending);
  if (end == kUnknown) {
    blocked_on_ = stream.pending;
    return false;
  }
  // A receiver waits for its sender, and then for the transfer.
  stream.end = at_most_never(std::max(end, stream.pending_start) + stream.pending_ns);
  stream.pending = {};
  return true;
}

bool Machine::can_run(const Instruction& i) {
  switch (i.op) {
    case Op::launch:
    case Op::collective:
    case Op::node:
    case Op::copy:
    case Op::synchronize:
      return settle(streams_[i.stream]);
    case Op::wait:
      return settle(streams_[i.what]);
    case Op::free_all:
      return std::ranges::all_of(streams_, [&](StreamState& s) { return settle(s); });
    default:
      return true;
  }
}

void Machine::execute(const Instruction& i) {
  if (i.place != 0 && i.place == hiccup_place_) now_ += kHiccup;
  switch (i.op) {
    case Op::enter_step:
      step_start_ = now_;
      if (observer_) observer_->enter_step(job_.spec.first_step + step_, now_);
      break;
    case Op::enter:
      if (observer_) observer_->enter(i, thread_, now_);
      break;
    case Op::leave:
      if (observer_) observer_->leave(now_);
      break;
    case Op::work: {
      const Ns ns = stretched(i.ns, jitter(i, kOnHost));
      inject(i, ns);
      now_ += ns;
      break;
    }
    case Op::thread:
      thread_ = i.what;
      break;
    case Op::launch:
      launch(i);
      break;
    case Op::collective:
      collective(i);
      break;
    case Op::graph:
      graph_ = i.id;
      node_ = 0;
      graph_call_start_ = call(i.call, stretched(i.ns, jitter(i, kOnHost)));
      break;
    case Op::node:
      tell_of_compute(i.what,
                      run_on_compute(i.what, stretched(program_.work[i.what].ns, jitter(i, kOnDevice)), now_,
                                     graph_call_start_),
                      ++node_);
      break;
    case Op::copy:
      copy(i);
      break;
    case Op::load_module:
      inject(i, i.ns);
      if (observer_ && now_ + i.ns <= stop_) observer_->load_module(now_, now_ + i.ns);
      now_ += i.ns;
      break;
    case Op::wait:
      wait(i);
      break;
    case Op::synchronize:
      synchronize(i);
      break;
    case Op::free_all: {
      Ns idle = 0;
      for (const StreamState& s : streams_) idle = std::max(idle, s.done());
      inject(i, i.ns);
      call(i.call, i.ns, at_most_never(idle) + i.ns);
      break;
    }
    case Op::malloc:
      inject(i, i.ns);
      call(i.call, i.ns);
      break;
    case Op::memory:
      if (observer_) observer_->memory(i.what, thread_, now_);
      break;
  }
}

double Machine::jitter(const Instruction& i, Side side) const {
  const bool is_quiet = job_.spec.noise == Noise::quiet;
  if (i.place == 0 || (stretch_ == 0 && is_quiet)) return 1;
  const u64 hash = mix(step_hash_ + 2 * u64{i.place} + side);
  const double even = stretch_ == 0 ? 1 : 1 + stretch_ * (2 * unit(hash) - 1);
  if (is_quiet) return even;
  return even * tail(job_.spec.noise, hash) * (side == kOnDevice ? device_factor_ : 1);
}

void Machine::inject(const Instruction& i, Ns ns) {
  if (i.fault != 0) inject(i.fault - 1u, ns);
}

void Machine::inject(size_t fault, Ns ns) {
  Ns& sum = injected_[fault * static_cast<size_t>(job_.spec.steps) + static_cast<size_t>(step_)];
  sum = add_saturated(sum, ns);
}

}  // namespace spotter::simulate
