// Machine: one rank's host and device, which run its program step after step. The host launches and goes on;
// device work starts when it has been launched, when its stream is free and when what its stream waits for is
// done. A collective starts so on each rank, waits inside for the last one, and ends on all at once.
//
// It runs twice. In the first pass ends of collectives are not known yet: it stops where it needs one, to
// run on from there. In the second pass all are known, and an Observer is told of everything. Times are
// nanoseconds since the job began.
#pragma once
#include <algorithm>
#include <array>
#include <vector>

#include "simulate/costs.h"
#include "simulate/job.h"
#include "simulate/rendezvous.h"

namespace spotter::simulate {

struct CallEvent {
  Call call;
  u32 thread;
  Ns start, end;
  i64 correlation;
};

struct DeviceEvent {
  u32 work;
  Stream stream;
  Ns start, end;
  i64 correlation;
  u32 thread;               // that launched it
  u32 collective = kNone;   // else its index
  i64 sequence = 0;         // of the collective in its group
  Ns transfer = 0;          // the end of it, when all have come
  u32 graph = 0, node = 0;  // of a CUDA graph; 0: none
};

// A wait for the device, as CUPTI tells it beside the call that it is of.
struct SyncEvent {
  Stream stream;  // that waits, or that the host waits for
  bool is_of_stream = false;
  Stream on = kCompute;  // that a stream waits for
  i64 record = 0;        // correlation of the cudaEventRecord there
  Ns start, end;
  i64 correlation;
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void enter_step(i64 step, Ns at) = 0;
  virtual void enter(const Instruction& i, u32 thread, Ns at) = 0;
  virtual void leave(Ns at) = 0;  // the innermost span, also a step
  virtual void call(const CallEvent& event) = 0;
  virtual void device(const DeviceEvent& event) = 0;
  virtual void synchronize(const SyncEvent& event) = 0;
  virtual void load_module(Ns start, Ns end) = 0;
  virtual void memory(u32 allocation, u32 thread, Ns at) = 0;
  virtual void end_step(Ns at) = 0;  // the device is idle
};

class Machine {
 public:
  // `stop`: nothing is recorded from then on.
  Machine(const Job& job, i64 rank, Rendezvous& rendezvous, Observer* observer = nullptr, Ns stop = kNever);

  // False: it cannot go on before the end of blocked_on() is known. A cancelled job ends between two steps.
  bool run();
  Meeting blocked_on() const { return blocked_on_; }
  Ns now() const { return now_; }
  bool hangs() const { return hang_at_ != kNever; }
  Ns hang_at() const { return hang_at_; }

  // Of each step that ended.
  const std::vector<Ns>& step_ns() const { return step_ns_; }
  const std::vector<Ns>& step_ends() const { return step_ends_; }
  // What faults added on this rank: [fault * steps + step].
  const std::vector<Ns>& injected() const { return injected_; }

 private:
  struct StreamState {
    Ns end = 0, not_before = 0;  // of its last work; of what it waits for
    Meeting pending;             // its last work is a collective whose end is not known yet
    Ns pending_start = 0, pending_ns = 0;

    // When all that has been asked of it is done, waits included: what an event that is recorded now tells.
    Ns done() const { return std::max(end, not_before); }
  };
  struct Meetings {
    std::array<u32, kGroupKinds> of_group{};
    u32 send_next = 0, send_previous = 0, receive_next = 0, receive_previous = 0;
    u32 exchange_next = 0, exchange_previous = 0;
  };

  bool can_run(const Instruction& i);
  bool settle(StreamState& stream);
  void execute(const Instruction& i);
  void begin_step();
  void end_step();
  void launch(const Instruction& i);
  void launch_piece(const Instruction& i, Ns call, Ns work);
  void copy(const Instruction& i);
  void collective(const Instruction& i);
  void wait(const Instruction& i);
  void synchronize(const Instruction& i);
  Ns call(Call call, Ns ns, Ns until = 0);  // returns its start
  Ns start_on(StreamState& stream, Ns launched, Ns call_start);
  Ns slowed(const DeviceWork& work, Ns ns, Ns start);              // by faults
  Ns run_on_compute(u32 work, Ns ns, Ns launched, Ns call_start);  // returns its start
  void tell_of_compute(u32 work, Ns start, u32 node = 0);
  Ns collective_ns(const Collective& c, u32 instance, bool injects);
  bool goes_over(const Fault& link, const Collective& c) const;
  Meeting next_meeting(const Collective& c);
  enum Side : u64 { kOnHost, kOnDevice };
  double jitter(const Instruction& i, Side side) const;
  void inject(const Instruction& i, Ns ns);
  void inject(size_t fault, Ns ns);

  const Job& job_;
  const Program& program_;
  i64 rank_;
  Rendezvous& rendezvous_;
  Observer* observer_;
  Ns stop_;

  size_t at_ = 0;  // the next instruction
  i64 step_ = 0;   // from 0
  Ns now_ = 0, step_start_ = 0, hang_at_ = kNever;
  u32 thread_ = 0, graph_ = 0, node_ = 0;
  i64 correlation_ = 0;
  bool in_step_ = false;
  Ns graph_call_start_ = 0;
  std::array<StreamState, kStreams> streams_;
  std::array<Link, kGroupKinds> links_;
  Meetings meetings_;
  Meeting blocked_on_;
  std::vector<Ns> queue_;  // starts of the launches before, a ring
  size_t launches_ = 0;
  u64 step_hash_ = 0;
  std::vector<u8> active_;  // by fault
  bool slows_device_ = false;
  double stretch_ = 0;  // by jitter
  double device_factor_ = 1;
  u32 hiccup_place_ = 0;
  std::vector<Ns> step_ns_, step_ends_, injected_;
};

}  // namespace spotter::simulate
