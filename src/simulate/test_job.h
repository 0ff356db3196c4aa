// For tests: a small job, run, and all that its ranks' devices did.
#pragma once
#include <algorithm>
#include <iterator>

#include "simulate/schedule.h"

namespace spotter::simulate {

struct Seen {
  DeviceEvent event;
  std::string name;
  DeviceKind kind;
};

// All device work of a rank.
class Recorder final : public Observer {
 public:
  explicit Recorder(const Program& program) : program_(program) {}
  void enter_step(i64, Ns at) override {
    steps.push_back(at);
    ++depth;
  }
  void enter(const Instruction&, u32, Ns) override { ++depth; }
  void leave(Ns) override { --depth; }
  void call(const CallEvent& event) override { calls.push_back(event); }
  void device(const DeviceEvent& event) override {
    seen.push_back({event, program_.work[event.work].name, program_.work[event.work].kind});
  }
  void synchronize(const SyncEvent& event) override { syncs.push_back(event); }
  void load_module(Ns start, Ns end) override { loads.push_back(end - start); }
  void memory(u32, u32, Ns) override {}
  void end_step(Ns at) override { ends.push_back(at); }

  std::vector<Seen> of(Stream stream) const {
    std::vector<Seen> found;
    std::ranges::copy_if(seen, std::back_inserter(found),
                         [&](const Seen& s) { return s.event.stream == stream; });
    return found;
  }

  std::vector<Seen> seen;
  std::vector<CallEvent> calls;
  std::vector<SyncEvent> syncs;
  std::vector<Ns> steps, ends, loads;
  int depth = 0;

 private:
  const Program& program_;
};

struct Simulated {
  explicit Simulated(const Spec& spec) : job(spec), plan(schedule(job).value()) {
    for (i64 rank = 0; rank < spec.ranks; ++rank) {
      ranks.emplace_back(job.program(rank));
      Machine machine(job, rank, plan.rendezvous, &ranks.back(), plan.stop);
      machine.run();
      injected.push_back(machine.injected());
      step_ns.push_back(machine.step_ns());
    }
  }
  Job job;
  Schedule plan;
  std::vector<Recorder> ranks;
  std::vector<std::vector<Ns>> injected, step_ns;
};

inline Spec small() {
  Spec spec;
  spec.ranks = 4;
  spec.steps = 2;
  spec.layers = 4;
  spec.micro_batches = 1;
  return spec;
}

inline Spec with(Spec spec, const std::string& fault) {
  spec.faults.push_back(*parse_fault(fault, spec.last_step()));
  return spec;
}

}  // namespace spotter::simulate
