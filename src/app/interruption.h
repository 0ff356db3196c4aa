// Work that ends in order when it is interrupted.
#pragma once
#include <atomic>

namespace spotter::app {

// Set by the first SIGINT or SIGTERM after this call.
const std::atomic<bool>* interruption();

}  // namespace spotter::app
