// How a rank's host launches work, and whether its device's clock agrees with that.
#pragma once
#include <vector>

#include "analyze/replay/job_program.h"
#include "analyze/replay/scenario.h"

namespace spotter::diagnose {

struct Launches {
  i64 count = 0, unknown = 0;  // pieces of device work whose launches the trace has, and others
  Ns host = 0, device = 0;     // of the former: what launching takes, and how long they run
  std::vector<Ns> host_by_step = {}, device_by_step = {};
  i64 runs = 0, early = 0;  // that were launched; of them those that began no later than their first call
  Ns late = 0;              // how long the first of them began after all of it was launched

  // A launch takes microseconds: work that is there before it, or a first piece that a device without
  // anything to do begins much later, says that the clocks differ, or that work is not recorded.
  bool disagree() const {
    return (early >= kLeastEarly && static_cast<double>(early) > kMostEarly * static_cast<double>(runs)) ||
           late > kMostLate;
  }
  static constexpr double kMostEarly = 0.1;
  static constexpr i64 kLeastEarly = 10;  // fewer say nothing of a clock
  static constexpr Ns kMostLate = 1'000'000;
};

std::vector<Launches> launches_of(const analyze::JobProgram& job);  // per rank

// Whether the host spends the row's time on launching.
inline bool launches(const analyze::SkeletonRow& row) {
  using analyze::SkeletonOp;
  return row.op == SkeletonOp::run || row.op == SkeletonOp::collective || row.op == SkeletonOp::wait;
}

// In the scenario launching takes so much of what it takes the rank's host in this step.
void scale_launches(const analyze::JobProgram& job, u32 rank, u32 step, double ratio,
                    analyze::Scenario& scenario);

}  // namespace spotter::diagnose
