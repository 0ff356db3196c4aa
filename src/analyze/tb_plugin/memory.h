// The allocator's events as the plugin sees them, and what it charges them to.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyze/tb_plugin/tree.h"
#include "table/table.h"

namespace spotter::analyze::tb_plugin {

// By name: the CPU and CUDA's devices; others have none (Q8).
struct MemoryPlace {
  bool is_cuda = false;
  i64 id = -1;
  auto operator<=>(const MemoryPlace&) const = default;
  std::string_view type() const { return is_cuda ? "CUDA" : "CPU"; }
};

struct Record {
  EventId event = kNone;
  Us time = 0;
  MemoryPlace place;
  i64 bytes = 0;  // positive: allocated
  std::optional<i64> address, allocated, reserved;
};

// By time. Those of devices without a name are left out, and noted.
std::vector<Record> records_of(const Trace& trace, const Events& events, Notes& notes);

struct Charges {
  std::vector<u32> node;        // per record: the innermost operator around it; kNone if something else is
  std::vector<u8> was_visited;  // per node: a record falls into it
};
Charges charge(const Trace& trace, const Tree& tree, const std::vector<Record>& records);

struct CurvePoint {
  Us time = 0;
  i64 allocated = 0, reserved = 0;
};
// Of records with an address and both totals: as they come.
using Curves = std::map<MemoryPlace, std::vector<CurvePoint>>;
Curves curves_of(const std::vector<Record>& records);

inline const ArgSet kMemoryArgs = {Arg::addr,           Arg::mem_bytes,   Arg::total_allocated,
                                   Arg::total_reserved, Arg::device_type, Arg::device_id};

// The columns that tables about memory begin with, behind the rank.
inline constexpr Field kPlaceFields[] = {
    {"device_type", Type::text, Unit::none, Role::key, "CPU or CUDA."},
    {"device_id", Type::integer, Unit::none, Role::key, "Number of the device; -1 for the CPU."},
};

}  // namespace spotter::analyze::tb_plugin
