// The event arguments that Spotter knows by name. args.cc has the one table of their spellings in every
// Kineto era; arguments that are not listed there are kept too, by their own name.
#pragma once
#include <bitset>
#include <initializer_list>
#include <span>
#include <string_view>

#include "base/types.h"

namespace spotter {

enum class Arg : u16 {
  // links
  correlation,
  external_id,
  record_function_id,
  ev_idx,
  sequence_number,
  fwd_thread_id,
  flow_id,
  // device work
  device,
  context,
  stream,
  queued,
  bytes,
  memory_bandwidth,
  grid,
  block,
  registers_per_thread,
  shared_memory,
  blocks_per_sm,
  warps_per_sm,
  occupancy,
  graph_id,
  graph_node_id,
  priority,
  kind,
  from_device,
  to_device,
  // synchronisation
  wait_on_stream,
  wait_on_event_corr,
  wait_on_event_id,
  sync_kind,
  event_id,
  // host calls
  cbid,
  // operators
  input_dims,
  input_strides,
  input_type,
  concrete_inputs,
  call_stack,
  module_hierarchy,
  finished,
  // collectives
  collective_name,
  dtype,
  in_msg_nelems,
  out_msg_nelems,
  in_split_size,
  out_split_size,
  group_size,
  group_name,
  group_desc,
  group_ranks,
  rank,
  src_rank,
  dst_rank,
  seq,
  comms_id,
  global_rank_start,
  global_rank_stride,
  // memory
  addr,
  mem_bytes,
  total_allocated,
  total_reserved,
  device_type,
  device_id,
  // python
  python_id,
  python_parent_id,
  python_module_id,
  python_thread,
  // metadata events
  name,
  labels,
  sort_index,
  count_  // not an argument
};

inline constexpr size_t kKnownArgs = static_cast<size_t>(Arg::count_);

using ArgId = u16;  // an Arg, or kKnownArgs + n for the n-th other name of a trace

// A set of arguments to load. `all` also takes the names that are not listed above.
struct ArgSet {
  std::bitset<kKnownArgs> known;
  bool all = false;

  ArgSet() = default;
  ArgSet(std::initializer_list<Arg> args) {
    for (Arg a : args) known.set(static_cast<size_t>(a));
  }
  static ArgSet everything() {
    ArgSet s;
    s.known.set();
    s.all = true;
    return s;
  }
  bool has(Arg a) const { return known[static_cast<size_t>(a)]; }
  ArgSet& operator|=(const ArgSet& o) {
    known |= o.known;
    all |= o.all;
    return *this;
  }
  friend ArgSet operator|(ArgSet a, const ArgSet& b) { return a |= b; }
};

struct ArgSpelling {
  std::string_view key;  // as in the JSON
  Arg arg;
  bool
      repeats;  // few distinct values per trace: the reader may treat the value as part of the text around it
};

std::span<const ArgSpelling> arg_spellings();

}  // namespace spotter
