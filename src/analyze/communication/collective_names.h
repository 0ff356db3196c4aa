// What the names of collectives say: of their marks on the host (trace/facts/collective_marks.h), of kernels
// ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(...)"), and of what collectives call themselves ("allreduce",
// "_allgather_base").
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/types.h"

namespace spotter::analyze {

bool is_point_to_point(std::string_view name);  // sends and receives

// "all_reduce", of any of the names; else the name itself without its arguments.
std::string operation_of(std::string_view name);

// Whether each rank gets what all put in, so that out is in times the number of ranks, or the other way
// round.
bool gathers(std::string_view operation);
bool scatters(std::string_view operation);

// Whether it ends on none of its ranks before all of them have come.
bool waits_for_all(std::string_view operation);

// What bus bandwidth is of algorithm bandwidth in a group of so many ranks: the share of a message that has
// to cross each rank's link, so that it compares with the link whatever the operation and the group. nullopt:
// not defined for it. Source: nccl-tests, doc/PERFORMANCE.md.
std::optional<double> bus_factor(std::string_view operation, i64 ranks);

}  // namespace spotter::analyze
