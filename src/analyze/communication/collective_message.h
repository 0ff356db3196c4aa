// What a call of a collective moves: from the arguments of its kernel, else of the operator
// record_param_comms that launched it, else from the shapes of the annotation's or operator's inputs.
#pragma once
#include <optional>
#include <string>

#include "analyze/communication/collective_calls.h"

namespace spotter::analyze {

struct CollectiveMessage {
  std::string type;  // of the elements: torch.dtype's name, or the trace's where that is not known; may be
                     // empty
  bool is_of_unknown_type = false;  // so that sizes are not known
  i64 ranks = 0;                    // of the group, as it is told or as the two sizes tell; 0: not known
  std::optional<i64> in_bytes, out_bytes;  // that the rank puts in, and gets
};

inline const ArgSet kCollectiveMessageArgs =
    kCollectiveCallArgs |
    ArgSet{Arg::dtype, Arg::in_msg_nelems, Arg::out_msg_nelems, Arg::input_dims, Arg::input_type};

// Reads kCollectiveMessageArgs.
CollectiveMessage message_of(const Trace& trace, const CollectiveCall& call);

// The size by which collectives are measured (nccl-tests, doc/PERFORMANCE.md): the larger of what a rank puts
// in and what it gets. That is each rank's message in an all-reduce and a broadcast, and what all ranks have
// together in an all-gather and a reduce-scatter.
std::optional<i64> measured_bytes(const CollectiveMessage& message, std::string_view operation);

}  // namespace spotter::analyze
