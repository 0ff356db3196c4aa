// Clock: how far a host's clock is from the right time, which is what the traces of its ranks tell.
#pragma once
#include "simulate/spec.h"

namespace spotter::simulate {

struct Clock {
  Ns offset = 0;  // when the job begins
  i64 drift = 0;  // nanoseconds that it gains in a second

  Ns at(Ns time) const { return time + offset + static_cast<Ns>(i128{time} * drift / 1'000'000'000); }
};

// Of the host with this number; with --clock-offset, else right.
Clock clock_of(const Spec& spec, i64 node);

}  // namespace spotter::simulate
