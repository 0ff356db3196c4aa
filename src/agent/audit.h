// Audit: who asked the agent for what, and what came of it: in a file of its own, a line of JSON for each, or
// in the log. Old lines go when there are too many: each peer may write so much a day, so that nobody drives
// out those of others; beyond it his requests are counted. The loop's thread; the file is written by another
// one, since its disk may be slow.
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
  static constexpr i64 kMostOfOne = i64{8}
                                    << 20;  // bytes a day, of 600 MiB that the file and its old ones have

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
  // Of one who asks.
  struct Asker {
    LogLimit refusals;
    Ns day = 0;       // when it began
    i64 bytes = 0;    // written that day
    i64 counted = 0;  // requests beyond, that are yet to be told
  };
  Asker& asker(const Peer& peer);
  void write_of(const Peer& peer, std::string_view what, std::string_view result, std::string_view reason);
  void write(std::string_view user, std::string_view from, std::string_view what, std::string_view result,
             std::string_view reason);
  void tell_later();

  net::Loop& loop_;
  const Host& host_;
  std::unique_ptr<sink::SinkRunner> file_;
  std::map<std::string, Asker> askers_;  // by the peer's name
  net::Timer tell_;
  bool tells_ = false;
};

}  // namespace spotter::agent
