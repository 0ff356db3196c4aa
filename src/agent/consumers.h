// Every kind of consumer, beside the newest samples and the history, which Telemetry answers questions from.
#pragma once
#include <span>

#include "agent/consumer.h"

namespace spotter::agent {

extern const ConsumerKind kPushSinks;

std::span<const ConsumerKind* const> all_consumers();

}  // namespace spotter::agent
