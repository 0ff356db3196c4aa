#include "agent/telemetry/consumers.h"

#include "base/records.h"

namespace spotter::agent {

std::span<const ConsumerKind* const> all_consumers() {
  static constexpr auto kAll = addresses(SPOTTER_CONSUMERS);
  return kAll;
}

}  // namespace spotter::agent
