// The collectives that one trace shows: the communication kernels of its devices or, where it has none, the
// spans of backends that work on the host ("gloo:..."). Sends and receives are no collectives. Copies between
// devices are not taken either. Where a recording has none of these, the spans of backends that work on a
// device ("nccl:...") say at least that there was a collective; they last as long as its launch, so that its
// time is not known.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "trace/device_work.h"
#include "trace/trace.h"

namespace spotter::analyze {

inline constexpr i64 kNoSequence = -1;

// A rank's call of a collective.
struct CollectiveCall {
  std::string group = {};      // of processes; where the trace does not say: the stream's number, or empty
  std::string_view name = {};  // of Arg::collective_name, else of the host's annotation, else of the kernel
  i64 sequence = kNoSequence;  // its number within the group
  i64 group_size = 0;          // ranks in the group; 0: not known
  Ns start = 0, end = 0;
  bool is_timed = true;  // false: start is its launch's, end equals it

  // The events that may say more of it, or kNone. Those on the host are looked for only where the kernel
  // itself says nothing.
  EventId kernel = kNone;
  EventId annotation = kNone;  // "nccl:all_reduce" around the launch, or the span itself on the host
  EventId record = kNone;      // "record_param_comms" around it
  EventId op = kNone;          // "c10d::allreduce_" around it
};

struct CollectiveCalls {
  std::vector<CollectiveCall> calls;
  i64 unclear = 0;  // kernels named for sends and receives, of which many are, but an all-to-all may be one
};

inline const ArgSet kCollectiveCallArgs =
    trace::kDeviceWorkArgs | ArgSet{Arg::group_name, Arg::group_ranks, Arg::group_size, Arg::seq};

// Name and ranks of the group that an event tells, since groups that have no rank in common may have one
// name. Empty where it says neither.
std::string group_of(const Trace& trace, EventId e);

// Sends and receives are no collectives, but are communication all the same.
enum class Sends : u8 { left_out, taken };

// Reads kCollectiveCallArgs.
CollectiveCalls collective_calls(const Trace& trace, Sends sends = Sends::left_out);
void note_unclear(const CollectiveCalls& found, Notes& notes);

}  // namespace spotter::analyze
