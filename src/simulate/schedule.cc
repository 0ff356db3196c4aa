#include "simulate/schedule.h"

#include <algorithm>
#include <deque>

namespace spotter::simulate {
namespace {

const Fault* find_hang(const Spec& spec) {
  const auto hang = std::ranges::find(spec.faults, FaultType::hang, &Fault::type);
  return hang == spec.faults.end() ? nullptr : &*hang;
}

std::vector<Ns> job_steps(const std::vector<Machine>& machines, Ns begin) {
  std::vector<Ns> steps;
  for (size_t s = 0;; ++s) {
    Ns end = begin;
    for (const Machine& m : machines) {
      if (s >= m.step_ends().size()) return steps;
      end = std::max(end, m.step_ends()[s]);
    }
    steps.push_back(end - begin);
    begin = end;
  }
}

}  // namespace

Result<Schedule> schedule(const Job& job) {
  Schedule result{Rendezvous(job.layout), kNever, {}, {}};
  Rendezvous& rendezvous = result.rendezvous;
  std::vector<Machine> machines;
  machines.reserve(static_cast<size_t>(job.spec.ranks));
  std::deque<i64> ready;
  Ns begin = kNever;
  for (i64 rank = 0; rank < job.spec.ranks; ++rank) {
    machines.emplace_back(job, rank, rendezvous);
    ready.push_back(rank);
    begin = std::min(begin, machines.back().now());
  }
  const auto take_woken = [&] {
    for (const i64 rank : rendezvous.take_woken()) ready.push_back(rank);
  };
  size_t running = machines.size();
  while (running > 0) {
    if (ready.empty()) {
      // Some rank hangs; or it lasts for ever or was cancelled, which are errors below.
      rendezvous.give_up();
    } else {
      Machine& machine = machines[static_cast<size_t>(ready.front())];
      if (machine.run())
        --running;
      else
        rendezvous.await(machine.blocked_on(), ready.front());
      ready.pop_front();
    }
    take_woken();
  }
  rendezvous.settle();
  if (job.is_cancelled()) return fail(Code::cancelled, "interrupted");
  if (!find_hang(job.spec) &&
      std::ranges::any_of(machines, [](const Machine& m) { return m.now() >= kNever; }))
    return fail(
        Code::invalid,
        "the job would last longer than 73 years; ask for fewer --steps, or for less by --scale and --fault");

  if (const Fault* hang = find_hang(job.spec)) {
    for (const Machine& m : machines)
      if (m.hangs()) result.stop = std::min(result.stop, m.hang_at() + hang->ns);
  }
  for (const Machine& m : machines) result.steps.push_back(m.step_ns());
  result.job_steps = job_steps(machines, begin);
  return result;
}

}  // namespace spotter::simulate
