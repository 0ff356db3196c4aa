// The steps of the plugin's overview, and what a step's time can be of.
#pragma once
#include <array>
#include <vector>

#include "analyze/tb_plugin/communication.h"
#include "analyze/tb_plugin/launches.h"

namespace spotter::analyze::tb_plugin {

struct StepTime {
  i64 number = 0;
  UsInterval time;
};

// Marks of steps, those on the device's timeline, too (Q2), each longer by the device work that the runtime's
// calls inside it launched, and not before the end of the one before; without those at the end of which the
// recording has no device work, or less than four fifths of the one before. Without marks one, number 0; none
// where the host has no operators.
std::vector<StepTime> steps_of(const Trace& trace, const Events& events, const Launches& launches);

// In the order in which they count.
enum Part : u8 { kKernel, kCopy, kSet, kCommunication, kRuntime, kDataLoader, kHost, kParts };

// When anything of a part runs, over all streams and threads; merged.
std::array<UsIntervals, kParts> times_by_part(const Trace& trace, const Events& events,
                                              const Communication& communication);

}  // namespace spotter::analyze::tb_plugin
