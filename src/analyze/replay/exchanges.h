// Sends and receives of which traces do not say the other rank: PyTorch before 2.4, and what one kernel does
// together.
#pragma once
#include <string_view>

#include "analyze/replay/job_program.h"

namespace spotter::analyze {

enum class Direction : u8 { none, send, receive, both };  // none: no exchange of two ranks

// By a kernel's or call's name: "send", "nccl:recv 0<-1", "ncclDevKernel_SendRecv".
Direction direction_of(std::string_view name);

// Adds calls and members for them, by the clocks as they are set. Both ranks see an exchange end at one time,
// to 10 µs, if the receiver has waited for it; a send before that ends by itself. Streams of two ranks belong
// to two that talk if they end together often, and half as often at least as with any other, or if most first
// receives of steps end nearest to what the other does: what ends together there is one exchange, and then
// each send that is left over and the next receive. A row that finds no other is alone.
void match_exchanges(JobProgram& job);

}  // namespace spotter::analyze
