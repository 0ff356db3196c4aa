#include "simulate/faults/noise.h"

namespace spotter::simulate {
namespace {

constexpr u64 kTail = 0x7A11, kLength = 0x7A12, kDevice = 0xDE71CE, kHiccups = 0x41CC;
constexpr double kTailShare = 0.01, kLeast = 0.05, kShape = 1.5, kMost = 4;  // of a Pareto distribution
constexpr double kDevices = 0.007;
constexpr u64 kStepsForHiccup = 8;

}  // namespace

double tail(Noise noise, u64 hash) {
  if (noise == Noise::quiet || unit(mix(hash, kTail)) >= kTailShare) return 1;
  return 1 + std::min(kMost, kLeast * std::pow(1 - unit(mix(hash, kLength)), -1 / kShape));
}

double device_factor(Noise noise, i64 seed, i64 rank) {
  return noise == Noise::quiet ? 1 : 1 + kDevices * unit(mix(step_hash(seed, rank, 0), kDevice));
}

u32 hiccup_place(Noise noise, u64 step_hash, u32 places) {
  const u64 hash = mix(step_hash, kHiccups);
  if (noise == Noise::quiet || hash % kStepsForHiccup != 0) return 0;
  return 1 + static_cast<u32>(hash / kStepsForHiccup % places);
}

}  // namespace spotter::simulate
