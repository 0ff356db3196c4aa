#include "agent/consumers.h"

namespace spotter::agent {

std::span<const ConsumerKind* const> all_consumers() {
  static constexpr const ConsumerKind* kAll[] = {
      &kPushSinks,
  };
  return kAll;
}

}  // namespace spotter::agent
