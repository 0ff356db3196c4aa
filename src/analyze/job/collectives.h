// The collectives that one trace shows: the communication kernels of its devices or, where it has none, the
// `gloo:` annotations of the host's workers. Sends and receives are no collectives. Copies between devices
// and `nccl:` annotations are not taken either: the latter last as long as the launch, not as the collective.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace spotter::analyze {

inline constexpr i64 kNoSequence = -1;

struct Collective {
  std::string group;           // of processes; where the trace does not say: the stream's number, or empty
  std::string_view name;       // of Arg::collective_name, else of the host's annotation, else of the kernel
  i64 sequence = kNoSequence;  // its number within the group
  Ns start = 0, end = 0;
};

struct Collectives {
  std::vector<Collective> runs;
  i64 unclear = 0;  // kernels named for sends and receives, of which many are, but an all-to-all may be one
};

// Reads kDeviceWorkArgs, group_name, group_ranks and seq.
Collectives collectives_of(const Trace& trace);

}  // namespace spotter::analyze
