// Numbers made of two that are equal on all ranks and hosts, so that what does the same can be found there
// (splitmix64's finaliser).
#pragma once
#include "base/types.h"

namespace spotter::analyze {

inline u64 mix(u64 a, u64 b) {
  u64 x = a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2));
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace spotter::analyze
