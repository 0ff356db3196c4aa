// What systemd says to a service, and is told of it. Elsewhere nothing happens.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "net/loop.h"

namespace spotter::app {

// A datagram to the socket that the environment names: sd_notify(3), "READY=1".
void tell_service_manager(std::string_view text);

// The first of the folders that are made for a service; empty: there is none. systemd.exec(5),
// RuntimeDirectory=, StateDirectory=.
std::string service_runtime_folder();
std::string service_state_folder();

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
