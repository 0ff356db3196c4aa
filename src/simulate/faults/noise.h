// Noise: what varies in a job beside its jitter. `quiet`: nothing. `rough`: now and then a host stands still
// for 2 ms, some work takes far longer than usual (a heavy tail), and devices are up to 0.7 % apart. Like all
// that varies it is a hash of the seed and of what it is asked for.
#pragma once
#include <array>

#include "simulate/hash.h"

namespace spotter::simulate {

enum class Noise : u8 { quiet, rough };
inline constexpr std::array<const char*, 2> kNoiseNames = {"quiet", "rough"};

inline constexpr Ns kHiccup = 2'000'000;

// All 1, or 0, where it is quiet.
double tail(Noise noise, u64 hash);  // times which something takes longer
double device_factor(Noise noise, i64 seed, i64 rank);
u32 hiccup_place(Noise noise, u64 step_hash, u32 places);  // in the program; 0: none in this step

}  // namespace spotter::simulate
