// What systemd is told of the agent (sd_notify(3)): a datagram of text to the socket that the environment
// names. Without one nothing happens.
#pragma once
#include <memory>
#include <string_view>

#include "net/loop.h"

namespace spotter::app {

void tell_service_manager(std::string_view text);  // "READY=1"

// Tells a watchdog (WatchdogSec=) twice in its time that the loop turns, for as long as this lives.
class Heartbeat {
 public:
  explicit Heartbeat(net::Loop& loop);

 private:
  void beat();
  Ns every_ = 0;  // 0: nobody watches
  net::Timer timer_;
};

}  // namespace spotter::app
