// What the collector pmu is made of beside its events: the kernel that it asks, another one in tests, and
// what its refusals mean.
#pragma once
#include "collect/collector.h"
#include "collect/pmu/perf_system.h"

namespace spotter::collect {

Result<std::unique_ptr<Collector>> open_pmu(const Surroundings& surroundings, const PerfSystem& system);

// Why perf_event_open failed with this errno, and what to do about it: one sentence.
Error pmu_refusal(const Host& host, int error);

}  // namespace spotter::collect
