// Audit: what the log says of who asked the agent for what, and what came of it. The loop's thread.
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "agent/access.h"
#include "base/log.h"
#include "base/result.h"
#include "net/loop.h"

namespace spotter::agent {

class Audit {
 public:
  explicit Audit(net::Loop& loop) : loop_(loop), tell_(loop) {}

  void done(const Peer& peer, std::string_view what);  // that changed something
  // It changes nothing, and anybody may ask as often as he likes: of many of one peer, some are written, and
  // then how many there were, so that he hides neither his own nor those of others.
  void refused(const Peer& peer, std::string_view what, const Error& why);

 private:
  void tell_later();

  net::Loop& loop_;
  std::map<std::string, LogLimit, std::less<>> refused_;  // by peer
  net::Timer tell_;
  bool tells_ = false;
};

}  // namespace spotter::agent
