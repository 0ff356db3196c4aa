// Collectives that threads of the host do for a program on a device, as gloo's: such a thread waits for what
// the device computed, moves it, and launches the copy back. The host's program waits for that only where it
// goes on with what came.
#pragma once
#include <vector>

#include "analyze/communication/collective_calls.h"
#include "analyze/replay/host_items.h"

namespace spotter::analyze {

struct HostCall {
  CollectiveCall call;
  u32 stream = 0;                 // a number for its thread
  std::vector<u32> awaited = {};  // rows of DeviceWork that it waited for
  Ns start = 0, end = 0;          // behind these waits, and before what it launches then
};

// Takes the waits of their threads out of the items, and puts in each call's issue and end.
std::vector<HostCall> take_host_calls(const Trace& trace, const std::vector<CollectiveCall>& calls,
                                      HostItems& found);

}  // namespace spotter::analyze
