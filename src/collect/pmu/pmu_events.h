// Which events of which processor make each column of the table pmu: data, and the only place that has any.
//
// Sources: Intel's and AMD's events as libpfm4 and Linux' tools/perf/pmu-events encode them; Arm's
// architecture reference (common events of PMUv3); for memory the drivers' own names in /sys
// (Documentation/admin-guide/perf). A test compares the encodings with libpfm4's.
#pragma once
#include <linux/perf_event.h>

#include <array>
#include <span>
#include <string_view>

#include "base/types.h"

namespace spotter::collect {

enum class PmuColumn : u8 {
  cycles,
  instructions,
  ref_cycles,
  branch_misses,
  l1d_misses,
  l2_misses,
  llc_misses,
  dtlb_misses,
  itlb_misses,
  slots,
  retiring_slots,
  bad_speculation_slots,
  frontend_bound_slots,
  backend_bound_slots,
  smt_contention_slots,
  memory_read_bytes,
  memory_write_bytes,
  context_switches,
  cpu_migrations,
  page_faults,
  minor_faults,
  major_faults,
};
inline constexpr size_t kPmuColumns = static_cast<size_t>(PmuColumn::major_faults) + 1;

// The event's count times `weight` goes into the column. A column is the sum of all its events of a machine;
// one with a negative weight is in the same group as what it is taken from.
struct PmuTerm {
  PmuColumn column = PmuColumn::cycles;
  i64 weight = 0;  // 0: no term
};

struct PmuEvent {
  std::array<PmuTerm, 2> terms;
  const char* name = nullptr;  // libpfm4's, without the processor's; nullptr: it has none
  const char* alias =
      nullptr;               // in the PMU's folder events/: it is there if and only if this is; nullptr: none
  u32 type = PERF_TYPE_RAW;  // with `config`, where there is no alias, and no libpfm4 that knows the name
  u64 config = 0;
  bool is_per_slot = false;  // the weight is the number of slots in a cycle, caps/slots
};

// Counted at the same time, or not at all.
struct PmuGroup {
  const char* name;
  std::span<const PmuEvent> events;
};

struct PmuRange {
  i64 first, last;
};

struct PmuModel {
  const char* name;                  // for people
  const char* vendor;                // as CpuModel has it; "": any
  i64 family;                        // -1: any
  std::span<const PmuRange> models;  // none: any
  const char* pfm;                   // the processor's name in libpfm4; nullptr: it has none
  std::span<const PmuGroup> groups;
};

// Of the memory controllers and caches that several processors share: of each device of that name, or of that
// name, an underscore and a number, on each processor that its cpumask has.
struct PmuUncore {
  const char* vendor;
  i64 first_family, last_family;
  const char* device;
  PmuEvent event;
};

std::span<const PmuModel> pmu_models();  // the first that fits
std::span<const PmuUncore> pmu_uncore();
const PmuGroup& pmu_software();

}  // namespace spotter::collect
