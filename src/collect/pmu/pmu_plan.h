// What is to be counted on a machine, and how: the events of pmu_events.h that it has, encoded for
// perf_event_open. Looks at /proc/cpuinfo and /sys only, and opens nothing.
#pragma once
#include <linux/perf_event.h>

#include <array>
#include <string>
#include <vector>

#include "base/system/host.h"
#include "collect/pmu/pmu_events.h"

namespace spotter::collect {

struct PlannedEvent {
  perf_event_attr attributes{};  // type and configuration
  std::array<PmuTerm, 2> terms{};
};

struct PlannedGroup {
  std::string name;  // "core", "uncore_imc_3", "software"
  std::vector<PlannedEvent> events;
  std::vector<i64> cpus;  // on which it is opened; empty: all that are online
  bool is_software = false;
};

struct PmuPlan {
  std::string model;                 // whose events they are; empty: the processors show no counters
  std::vector<PlannedGroup> groups;  // the most important first
};

PmuPlan plan_pmu(const Host& host);

}  // namespace spotter::collect
