// The processes of this host that poll for requests. A process is who the kernel says it is (the credentials
// of its datagram), never what its message says: two containers may both send pid 1. It is in the list from
// its first poll until gone() is called, which whoever watches the process does when it ends.
//
// One thread. Times are of a steady clock.
#pragma once
#include <future>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/system/host.h"
#include "base/system/side_threads.h"
#include "base/time.h"
#include "kineto/message.h"
#include "process/role.h"

namespace spotter::kineto {

struct Credentials {
  i64 pid = 0, uid = -1;
};

struct Process {
  process::ProcessFacts facts;  // as keep_what_is_asked_later() leaves them
  process::Identity identity;
  // Its parent, then the parent's parent ..., without init; then those that it says it had and that have
  // ended.
  std::vector<i64> ancestors;
  std::string address;  // the name of the socket that it polls from
  Poll poll;            // the last one
  i64 polls = 0;
  Ns first_poll = 0, last_poll = 0, read = 0;  // read: when the facts were
  Ns next_look = 0;                            // for a GPU, of a worker that may be a rank
  bool is_torch_asked = false;
  std::future<std::string> torch_version = {};
};

// Which processes a request is for. Empty lists and names stand for any.
struct Target {
  std::vector<i64> pids = {};  // of the process, or of an ancestor of it
  std::vector<i64> ranks = {};
  std::string job = {};
  bool helpers = false;  // those, too
};

class Registry {
 public:
  static constexpr size_t kMost = 8192, kMostOfUser = kMost / 2;  // who is not root
  static constexpr Ns kStale = 5 * kSecond;

  explicit Registry(Host host) : host_(std::move(host)) {}

  // A poll has come. Errors: not_found (the process has ended meanwhile), denied (there are kMost already, or
  // kMostOfUser of its user).
  Result<Process*> seen(const Credentials& sender, std::string_view address, const Poll& poll, Ns now);
  void gone(i64 pid) { processes_.erase(pid); }

  Process* find(i64 pid);
  // Reads again what changes while a process lives (whether it has a GPU open): of those that were read more
  // than kStale ago, the `most` that were read first.
  void refresh(Ns now, size_t most);
  std::vector<Process*> matching(Target target);
  const std::map<i64, Process>& all() const { return processes_; }  // by pid

 private:
  Result<void> has_room(const Credentials& sender) const;
  Process identified(process::ProcessFacts facts) const;
  void add_ended_ancestors(Process& process, const Poll& poll) const;
  void ask_for_torch(Process& process);
  // A rank that multiprocessing started is told from a worker by its GPU, which it opens after its first
  // poll.
  void look_for_gpu(Process& process, Ns now);
  void read_again(Process& process, Ns now);

  Host host_;
  std::map<i64, SideThreads> torch_readers_;  // by user: of file servers that do not answer
  std::map<i64, Process> processes_;
};

bool matches(const Process& process, const Target& target);

}  // namespace spotter::kineto
