// From a trace to its skeleton.
#pragma once
#include "analyze/communication/collective_message.h"
#include "analyze/replay/host_items.h"
#include "analyze/replay/skeleton.h"
#include "trace/trace.h"

namespace spotter::analyze {

inline const ArgSet kSkeletonArgs = kHostItemArgs | kCollectiveMessageArgs |
                                    ArgSet{Arg::grid,     Arg::block,      Arg::bytes,      Arg::src_rank,
                                           Arg::dst_rank, Arg::group_desc, Arg::external_id};

// Reads kSkeletonArgs. Without device work that of host_skeleton.h.
Skeleton build_skeleton(const Trace& trace);

}  // namespace spotter::analyze
