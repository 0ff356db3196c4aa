// The plugin's operations of communication: annotations and operators with one of ten names, and the kernels
// that have their External id, which since PyTorch 1.12 are none (Q9).
#pragma once
#include <unordered_set>
#include <vector>

#include "analyze/tb_plugin/events.h"

namespace spotter::analyze::tb_plugin {

struct Collective {
  EventId event = kNone;
  UsInterval time;     // on the host
  UsIntervals ranges;  // its own and that of its kernels; by start, the longest first
};

struct Communication {
  std::vector<Collective> all;  // by start, the longest first
  bool is_mixed = false;        // NCCL's and Gloo's in one trace, of which the plugin shows nothing

  std::unordered_set<i64> ids;  // External ids
  bool has(i64 external_id) const { return ids.contains(external_id); }
};

Communication communication_of(const Trace& trace, const Events& events);

}  // namespace spotter::analyze::tb_plugin
