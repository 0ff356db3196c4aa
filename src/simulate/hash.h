// Numbers that look random and depend on nothing but what they are asked for, so that every pass and every
// thread sees the same job. Mixing after splitmix64's finaliser.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/types.h"

namespace spotter::simulate {

inline u64 mix(u64 x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

inline u64 mix(u64 a, u64 b) { return mix(a ^ mix(b)); }

// Of a rank in a step, from 0.
inline u64 step_hash(i64 seed, i64 rank, i64 step) {
  return mix(mix(static_cast<u64>(seed), static_cast<u64>(rank)), static_cast<u64>(step));
}

// In [0, 1).
inline double unit(u64 hash) { return static_cast<double>(hash >> 11) * 0x1p-53; }

// Time of what does not happen. Adding the durations of a job to it does not overflow.
inline constexpr Ns kNever = std::numeric_limits<Ns>::max() / 4;

// A duration is stretched in floating point and rounded; points in time never are. What lasts for ever ends
// at kNever.
inline Ns stretched(Ns duration, double factor) {
  return std::llround(std::min(static_cast<double>(duration) * factor, static_cast<double>(kNever)));
}

}  // namespace spotter::simulate
