// Which call of the runtime launched which device work: that of the same correlation, whatever is around it.
#pragma once
#include <vector>

#include "analyze/tb_plugin/events.h"

namespace spotter::analyze::tb_plugin {

struct Launch {
  u32 event = kNone;      // of Events::all; kNone: of kernels whose launch is not there (Q6)
  std::vector<u32> work;  // of Events::all
};

struct Launches {
  std::vector<Launch> all;      // by their events; the one without an event comes last
  bool has_unlaunched = false;  // whether that one is there
};

Launches launches_of(const Trace& trace, const Events& events);

}  // namespace spotter::analyze::tb_plugin
