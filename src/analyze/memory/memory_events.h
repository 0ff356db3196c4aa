// Memory events: what PyTorch's allocators report where memory is profiled, by device. They are the instants
// named [memory] of every Kineto era.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "table/table.h"
#include "trace/trace.h"

namespace spotter::analyze {

inline const ArgSet kMemoryEventArgs = {Arg::addr,           Arg::mem_bytes,   Arg::total_allocated,
                                        Arg::total_reserved, Arg::device_type, Arg::device_id};

struct MemoryEvent {
  Ns time;
  i64 bytes;                    // positive: allocated, negative: freed
  std::optional<i64> address;   // not before PyTorch 1.12, as the totals
  i64 allocated;                // in use from then on: the allocator's total, else the last value and `bytes`
  std::optional<i64> reserved;  // held by the allocator from then on, used or not
};

struct MemoryDevice {
  std::string type;                 // CPU, CUDA, ..., or the number of a type that has no name here
  i64 id = 0;                       // -1 for the CPU
  std::vector<MemoryEvent> events;  // by time, then by position in the file; at least one
};

// By the number of the type, then by id. Says in `table` what is missing.
std::vector<MemoryDevice> memory_by_device(const Trace& trace, Table& table);

}  // namespace spotter::analyze
