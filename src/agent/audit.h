// Audit: who asked the agent for what, and what came of it: in a file of its own, a line of JSON for each, or
// in the log. The loop's thread; the file is written by another one, since its disk may be slow.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agent/access.h"
#include "base/log.h"
#include "base/result.h"
#include "base/system/host.h"
#include "net/loop.h"
#include "sink/runner.h"

namespace spotter::agent {

class Audit {
 public:
  Audit(net::Loop& loop, const Host& host) : loop_(loop), host_(host), tell_(loop) {}

  // From now on into this file, which only its owner and group may read; logrotate may take it away. Errors:
  // busy.
  Result<void> open(const std::string& file, const std::string& host_name);

  void done(const Peer& peer, std::string_view what);  // that changed something
  // It changes nothing, and anybody may ask as often as he likes: of many of one peer, some are written, and
  // then how many there were, so that he hides neither his own nor those of others.
  void refused(const Peer& peer, std::string_view what, const Error& why);

  std::optional<SinkState> state() const;  // nothing: there is no file

 private:
  void write(std::string_view user, std::string_view from, std::string_view what, std::string_view result,
             std::string_view reason);
  void tell_later();

  net::Loop& loop_;
  const Host& host_;
  std::unique_ptr<sink::SinkRunner> file_;
  std::map<std::string, LogLimit, std::less<>> refused_;  // by peer
  net::Timer tell_;
  bool tells_ = false;
};

}  // namespace spotter::agent
