// Processes: what the training processes of this host say, by datagrams (Kineto's protocol). Who polls is
// looked up, registered and watched until it ends, and gets the request that waits for it. The loop's thread.
//
//   process --poll--> Datagrams -> Registry -> Captures --request--> process
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "agent/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "capture/captures.h"
#include "kineto/contexts.h"
#include "kineto/message.h"
#include "kineto/registry.h"
#include "net/datagrams.h"
#include "net/loop.h"

namespace spotter::agent {

class Processes {
 public:
  struct Counters {
    i64 polls = 0, requests_sent = 0, sends_failed = 0, bad_datagrams = 0;
  };

  // `on_new` is told the pid of each process that is watched from now on.
  Processes(net::Loop& loop, Clock clock, kineto::Registry& registry, capture::Captures& captures,
            std::function<void(i64 pid)> on_new);
  ~Processes();

  // `directory`: of the processes' sockets; empty: the abstract namespace. Errors: denied, io.
  Result<void> listen(const std::string& directory);

  kineto::Registry& registry();  // with all who have polled
  void refresh();                // some of what changes while they run
  const Counters& counters() const { return counters_; }

 private:
  // A poll of a process that is not registered, or has another name since.
  struct Newcomer {
    i64 uid;
    std::string address;
    kineto::Poll poll;
    Ns arrived;  // its first poll, however long it waits to be met: who was first may say whose a job is
  };
  void receive(const net::Datagram& datagram);
  void count_context(const net::Datagram& datagram, const kineto::Registration& registration);
  void arrived(const net::Datagram& datagram, const kineto::Poll& poll);
  void meet_newcomers();
  void meet_one();
  void poll(const net::Datagram& datagram, const kineto::Poll& poll, Ns arrived);
  bool watch(i64 pid);  // false: it is not, and no longer registered
  void bad(const net::Datagram& datagram, std::string_view why);
  void not_taken(std::string_view why);

  net::Loop& loop_;
  Clock clock_;
  kineto::Registry& registry_;
  capture::Captures& captures_;
  std::function<void(i64 pid)> on_new_;
  Counters counters_;
  LogLimit bad_datagrams_log_, refused_polls_log_;
  net::Timer meet_;
  std::map<i64, std::unique_ptr<net::ProcessWatch>> watches_;  // by pid
  std::map<i64, Newcomer> newcomers_;                          // by pid
  i64 last_met_ = 0;
  Ns meet_pause_ = 0;
  bool meeting_ = false;
  kineto::Contexts contexts_;
  std::unique_ptr<net::Datagrams> datagrams_;
};

}  // namespace spotter::agent
