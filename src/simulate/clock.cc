#include "simulate/clock.h"

#include "simulate/hash.h"

namespace spotter::simulate {
namespace {

constexpr i64 kMostDrift = 20'000;                  // quartz, without anything that keeps it right
constexpr u64 kOffset = 0xC10C0, kDrift = 0xC10C1;  // tell its numbers from all others of the job

i64 drawn(u64 hash, i64 most) { return std::llround(static_cast<double>(most) * (2 * unit(hash) - 1)); }

}  // namespace

Clock clock_of(const Spec& spec, i64 node) {
  if (spec.clock_offset == 0) return {};
  const u64 hash = mix(mix(static_cast<u64>(spec.seed)), static_cast<u64>(node));
  return {drawn(mix(hash, kOffset), spec.clock_offset), drawn(mix(hash, kDrift), kMostDrift)};
}

}  // namespace spotter::simulate
