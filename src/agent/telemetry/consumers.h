// Every kind of consumer, beside the newest samples and the history, which Telemetry answers questions from.
#pragma once
#include <span>

#include "agent/telemetry/consumer.h"

namespace spotter::agent {

// One on a line, so that a new one is a line.
// clang-format off
#define SPOTTER_CONSUMERS \
  kPushSinks
// clang-format on
extern const ConsumerKind SPOTTER_CONSUMERS;

std::span<const ConsumerKind* const> all_consumers();

}  // namespace spotter::agent
