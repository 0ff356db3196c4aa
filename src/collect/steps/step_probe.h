// A probe in a running process, which notes when one of its threads calls a function (a uprobe:
// perf_event_open(2)). The process is not stopped and its memory is not written by us: the kernel does, and
// takes it back when the descriptor is closed.
#pragma once
#include <vector>

#include "base/result.h"
#include "base/system/descriptor.h"
#include "base/system/host.h"
#include "base/types.h"
#include "collect/steps/torch_step.h"

namespace spotter::collect {

// Errors: not_found.
Result<void> has_uprobes(const Host& host);

// Needs CAP_SYS_ADMIN: CAP_PERFMON alone gets EACCES (kernel 6.18). Whoever has the descriptor may read what
// it notes without any right (StepMarks). `thread`: optimizers step on one, as a rule the first, whose number
// is the process's. Errors: denied, not_found (the kernel has no uprobes, or no such thread runs), io; in a
// sentence with a remedy.
Result<Descriptor> open_step_probe(const Host& host, i64 thread, const TorchStep& step);

// What a probe notes.
class StepMarks {
 public:
  static Result<StepMarks> of(Descriptor probe);
  ~StepMarks();
  StepMarks(StepMarks&& other) noexcept;
  StepMarks& operator=(StepMarks&&) = delete;

  // When it was called since the last read, by the steady clock (CLOCK_MONOTONIC), oldest first. There is
  // room for some 1,000 times.
  std::vector<Ns> read();
  bool has_ended() const;  // the thread has: nothing more will be noted
  // All since the probe was opened, as of the last read, those that were lost, too.
  i64 calls();
  i64 lost() const { return lost_; }  // for whose times there was no room

 private:
  StepMarks(Descriptor probe, void* ring) : probe_(std::move(probe)), ring_(ring) {}

  Descriptor probe_;
  void* ring_;
  i64 lost_ = 0, calls_ = 0;
  bool was_full_ =
      false;  // from then on the kernel is asked how many there were, which interrupts a processor
};

}  // namespace spotter::collect
