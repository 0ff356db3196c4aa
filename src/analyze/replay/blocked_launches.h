// Blocked launches: a call that launches only after it has waited for long, as a driver does that loads a
// kernel's code where it is used first, is a pause and a launch.
#pragma once
#include "analyze/replay/host_items.h"

namespace spotter::analyze {

// A launch waits where its queue is full: that is no pause.
inline constexpr i64 kFullQueue = 512;  // launches outstanding

// Of the work of its stream what was launched before this row and had not begun.
i64 outstanding(const trace::DeviceWork& work, u32 row, Ns time);

// `items`: by time, and again so.
void split_blocked_launches(const Trace& trace, HostItems& found);

}  // namespace spotter::analyze
