// RankPlace: a rank's numbers and names, as its trace tells them.
#pragma once
#include "base/time.h"
#include "simulate/clock.h"
#include "simulate/job.h"

namespace spotter::simulate {

// The clock is libkineto's: it counts from a multiple of 7,889,238 s. The job begins a while later, always at
// the same time, so that the same options give the same bytes.
inline constexpr Ns kClockBase = i64{7'889'238} * 227 * kSecond;
inline constexpr Ns kJobStart = i64{1'209'600} * kSecond;  // since then

struct RankPlace {
  RankPlace(const Job& job, i64 r)
      : rank(r),
        device(job.layout.device(r)),
        pid(20'000 + 40 * device),
        host(job.layout.host(r)),
        clock(clock_of(job.spec, job.layout.node(r))) {}
  i64 thread_id(u32 thread) const { return pid + (thread == 0 ? 0 : 17); }

  i64 rank, device, pid;
  std::string host;
  Clock clock;
};

inline constexpr std::array<i64, kStreams> kStreamIds = {7, 20, 24, 28, 32, 36, 40, 44};

}  // namespace spotter::simulate
