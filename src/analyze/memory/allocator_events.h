// Allocator events: what PyTorch's allocators report where memory is profiled, by device. They are the
// instants named [memory] of every Kineto era.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "table/table.h"
#include "trace/trace.h"

namespace spotter::analyze {

inline const ArgSet kAllocatorEventArgs = {Arg::addr,           Arg::mem_bytes,   Arg::total_allocated,
                                           Arg::total_reserved, Arg::device_type, Arg::device_id};

struct AllocatorEvent {
  EventId event;
  Ns time;
  i64 bytes;                    // positive: allocated, negative: freed
  std::optional<i64> address;   // not before PyTorch 1.12, as the totals
  i64 allocated;                // in use from then on: the allocator's total, else the last value and `bytes`
  std::optional<i64> reserved;  // held by the allocator from then on, used or not
};

struct MemoryDevice {
  std::string type;                    // CPU, CUDA, ..., or the number of a type that has no name here
  i64 id = 0;                          // -1 for the CPU
  std::vector<AllocatorEvent> events;  // by time, then by position in the file; at least one
};

// By the number of the type, then by id. Says in `table` what is missing.
std::vector<MemoryDevice> memory_by_device(const Trace& trace, Table& table);

// The first of those after which the most is in use.
size_t peak_of(const MemoryDevice& device);

// The columns that tables about memory begin with, behind the rank.
inline constexpr Field kDeviceTypeField = {"device_type", Type::text, Unit::none, Role::key,
                                           "CPU, CUDA, HIP, XPU, ..."};
inline constexpr Field kDeviceIdField = {"device_id", Type::integer, Unit::none, Role::key,
                                         "Number of the device; -1 for the CPU."};

}  // namespace spotter::analyze
