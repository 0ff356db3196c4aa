// Audit: what the log says of who asked the agent for what, and what came of it. The loop's thread.
#pragma once
#include <string_view>

#include "agent/access.h"
#include "base/log.h"
#include "base/result.h"
#include "net/loop.h"

namespace spotter::agent {

class Audit {
 public:
  explicit Audit(const net::Loop& loop) : loop_(loop) {}

  void done(const Peer& peer, std::string_view what);  // that changed something
  // It changes nothing, and anybody may ask as often as he likes: of many, some are written, with a count.
  void refused(const Peer& peer, std::string_view what, const Error& why);

 private:
  const net::Loop& loop_;
  LogLimit refused_log_;
};

}  // namespace spotter::agent
