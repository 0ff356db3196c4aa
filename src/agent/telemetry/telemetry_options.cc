#include "agent/telemetry/telemetry_options.h"

#include "collect/list.h"

namespace spotter::agent {

std::vector<collect::Wanted> usual_collectors() {
  std::vector<collect::Wanted> usual;
  for (const collect::CollectorKind* kind : collect::all_collectors()) {
    if (kind->is_on) usual.push_back({kind, kind->period});
  }
  return usual;
}

}  // namespace spotter::agent
