#include "app/interruption.h"

#include <csignal>

namespace spotter::app {
namespace {

std::atomic<bool> interrupted = false;

void on_signal(int) { interrupted.store(true, std::memory_order_relaxed); }

}  // namespace

const std::atomic<bool>* interruption() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  return &interrupted;
}

}  // namespace spotter::app
