#include "export/flows.h"

namespace spotter::export_ {

Ns flow_time(const Trace& trace, EventId e, bool end) {
  return end && trace.dur[e] > 0 ? trace.end(e) - 1 : trace.ts[e];
}

}  // namespace spotter::export_
