// Numbers for texts that are equal on all ranks and hosts, so that what does the same can be found there
// (FNV-1a, and splitmix64's finaliser to mix them).
#pragma once
#include <string_view>

#include "base/types.h"

namespace spotter::analyze {

inline u64 text_hash_of(std::string_view text) {
  u64 hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<u8>(c)) * 0x100000001b3u;
  return hash;
}

inline u64 mix(u64 a, u64 b) {
  u64 x = a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2));
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace spotter::analyze
