// Tally: the numbers that a rank's schedule implies, added up while it runs. It holds the device work of one
// step. On purpose it shares nothing with the analyses, which are tested against it.
#pragma once
#include "simulate/machine.h"

namespace spotter::simulate {

// Device times are of the work that was launched in the step; each counts every moment once.
struct StepNumbers {
  Ns start = 0;
  Ns step = -1;  // on the host; -1: it did not end
  Ns device_start = 0, device_end = 0;
  Ns compute = 0, communication = 0, memory = 0;
  Ns hidden = 0;  // communication while something computes
  Ns idle = 0;    // between device_start and device_end
  // Of collectives without sends and receives: while one transfers; while some wait and none transfers.
  Ns transfer = 0, wait = 0;

  Ns window() const { return device_end - device_start; }
};

// Of all calls of one.
struct CollectiveNumbers {
  i64 calls = 0;
  Ns time = 0, transfer = 0, wait = 0;
};

// What is held at the first moment at which the most is.
struct MemoryNumbers {
  Ns at = 0;
  i64 bytes = 0;  // in all, without what was allocated before the job began
  std::array<i64, kMemoryUses> by_use{};
};

struct RankNumbers {
  std::vector<StepNumbers> steps;
  StepNumbers whole;                           // all device work; start and step are not used
  std::vector<CollectiveNumbers> collectives;  // as in the rank's program
  MemoryNumbers memory;
  std::vector<Ns> injected;  // see Machine
  i64 events = 0;
};

class Tally {
 public:
  void begin_step(Ns at) { step_ = {.start = at}; }
  void device(DeviceKind kind, Ns start, Ns end) { add(static_cast<size_t>(kind), start, end); }
  // Beside device(). `is_of_all`: no send and no receive.
  void collective(u32 number, bool is_of_all, Ns start, Ns transfer, Ns end);
  void memory(const Allocation& allocation, Ns at);
  i64 held() const { return held_.bytes; }
  void end_step(Ns at, bool ended);
  RankNumbers take() { return std::move(numbers_); }

 private:
  enum : size_t { kCollective = 3, kTransfer, kCounts };  // beside the kinds of device work
  struct Edge {
    Ns at;
    size_t of;
    bool begins;
  };
  void add(size_t of, Ns start, Ns end) {
    edges_.push_back({start, of, true});
    edges_.push_back({end, of, false});
  }
  void sweep();
  void add_to_whole();

  StepNumbers step_;
  std::vector<Edge> edges_;
  MemoryNumbers held_;
  RankNumbers numbers_;
};

}  // namespace spotter::simulate
