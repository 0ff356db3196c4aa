#include "agent/consumers.h"

namespace spotter::agent {

std::span<const ConsumerKind* const> all_consumers() {
  // One on a line, so that a new one is a line.
  // clang-format off
  static constexpr const ConsumerKind* kAll[] = {
      &kPushSinks,
  };
  // clang-format on
  return kAll;
}

}  // namespace spotter::agent
