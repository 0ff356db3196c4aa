// Simulated training processes, as libkineto's daemon client behaves (PyTorch 2.13): a poll each period from
// the start of the last one; sends that do not wait, with 11 tries after 10, 20, .. ms; the answer awaited at
// 0, 10, .. 80 ms; whatever datagram is first is taken for it. An agent knows a process by its kernel pid, so
// each is a process of its own. And a probe: a client whose messages are always answered.
#pragma once
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace spotter::bench {

Ns now_ns();  // of the steady clock
void sleep_until(Ns time);

// A bound datagram socket in the directory of an agent's sockets. The file is removed at the end.
class DatagramClient {
 public:
  explicit DatagramClient(const std::string& directory);
  ~DatagramClient();
  DatagramClient(const bench::DatagramClient&) = delete;
  bench::DatagramClient& operator=(const bench::DatagramClient&) = delete;

  bool send(std::string_view bytes, bool wait);  // false with errno
  std::string receive(bool wait);                // empty: nothing has come (for 2 s, if it waits)

 private:
  std::string directory_, path_;
  int fd_;
};

struct Spread {
  size_t count = 0;
  Ns p50 = 0, p99 = 0, max = 0;
};
bench::Spread spread_of(std::vector<Ns> times);

// Round trips of a `ctxt` message, one each `pause` for `seconds`. One that begins late because the one
// before it took too long counts from when it was due. Errors: internal (no answer or a wrong one).
Result<bench::Spread> probe(const std::string& directory, double seconds, Ns pause);

struct PollCounts {
  i64 polls = 0;    // that were due
  i64 in_time = 0;  // of these: sent before the next one was due
  i64 sent = 0;
  i64 retries = 0;       // sends refused because the queue was full
  i64 configs = 0;       // requests that have come whole
  i64 late_configs = 0;  // not with the first poll after triggered()
  i64 wrong = 0;         // answers that are none, and requests for somebody else
};

// Processes that begin to poll spread over `spread`, until end(). They also play the captures that they are
// asked for: busy at the next poll, and at the one after it the file is there.
class Herd {
 public:
  struct Plan {
    std::string directory;
    int processes;
    Ns period, spread;
  };
  // Errors: unsupported (the system does not allow so many processes).
  static Result<std::unique_ptr<bench::Herd>> start(const Plan& plan);
  ~Herd();  // kills what is left

  void triggered();  // a request for all has been accepted
  void silence();    // stops them all where they are (SIGSTOP)
  // Ends all polling and adds up. Errors: internal (a process did not end well).
  Result<bench::PollCounts> end();

 private:
  struct Board;
  explicit Herd(size_t processes);
  std::vector<pid_t> pids_;
  size_t shared_bytes_;
  Board* board_;
  std::span<bench::PollCounts> counts_;  // of each process, in memory that all share
};

}  // namespace spotter::bench
