// Captures: trace requests from their targets to their receipts. A request is a state machine per process:
//
//   accepted -> delivered -> capturing -> written | empty
//        \_________\_____________\______-> failed, expired
//
// It has no socket and no clock: whoever has them says when a process polled, when its answer went out, when
// it ended and what time it is. Files are looked at through the process's root, on threads
// of their own (aside.h): a disk that hangs costs the captures that write to it, after half a minute. Its
// functions are for one thread.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/system/host.h"
#include "capture/aside.h"
#include "capture/capture.h"
#include "capture/held_requests.h"
#include "capture/output_place.h"
#include "kineto/config.h"
#include "kineto/registry.h"
#include "table/table.h"

namespace spotter::capture {

struct Request {
  std::vector<i64> pids;  // of registered processes, each once
  kineto::Config config;  // what to record
  std::string
      output;        // directory, in which each process gets a file of its own; empty: config.log_file counts
  std::string text;  // as it was asked for, keys and all; empty: made from `config`
  Ns deadline = 0;   // after acceptance; 0: what the request needs, and a minute
  std::string asked_by;
};

class Captures {
 public:
  static constexpr size_t kMostKept = 256;  // captures that are over

  Captures(kineto::Registry& registry, Host host, std::string host_name, Aside aside);
  ~Captures();

  // Errors: invalid (the process would drop the request; no such directory), not_found (no such process),
  // denied (its user may not write there), busy (why_busy() of one of them).
  Result<std::string> begin(const Request& request, Times now);

  // A process has polled: the text to answer with, if there is one for it. It stays until sent().
  std::optional<std::string> text_for(const kineto::Process& process, Times now);
  void sent(i64 pid, Times now);
  void gone(i64 pid, Times now);
  // Takes a capture back. What a process has already got it may still write.
  void end(const std::string& id, std::string_view by, Times now);
  // Looks after the next `most` processes that have a request, in turn. To be called such that each has its
  // turn every few hundred milliseconds while there are any.
  void tick(Times now, size_t most = SIZE_MAX);
  size_t active() const { return jobs_.size(); }
  bool busy(i64 pid) const { return jobs_.contains(pid); }
  // Why a process takes no request now, also where it still has that of a capture that is over; empty: it
  // does.
  std::string why_busy(i64 pid, Times now) const;

  const Capture* find(const std::string& id) const;
  std::vector<const Capture*> all() const;  // under way and kept, the newest first
  Table receipts(const Capture& capture) const { return receipts_of(capture, host_name_); }
  // Each listener is called when a capture begins and with each change of it, in the order of their coming.
  using Listener = std::function<void(const Capture&)>;
  void add_listener(Listener listener) { listeners_.push_back(std::move(listener)); }

 private:
  struct Job;  // of one process
  void settle(Job& job, State state, std::string reason, Times now);
  void advance(Job& job, State state);
  bool asks_again(Job& job, bool is_idle, Times now);
  // What ends without its file may have been dropped; who is at work ignores a request that he gets all the
  // same.
  void note_deaf(const Job& job);
  void hold(const Job& job);
  Result<void> find_places(const std::map<i64, std::vector<Writer>>& by_user,
                           const std::vector<std::unique_ptr<Job>>& jobs, Capture& capture);
  static Result<void> take_place(Job& job, Receipt& receipt);
  bool is_placed(Job& job, Times now);
  bool look(Job& job, Times now);
  void take_look(Job& job, FileLook file, Times now);
  void look_after(Job& job, Times now);
  static bool never_began(const Job& job, Times now);
  static std::string why_never_begun(const Job& job, Times now);
  void collect_settled();
  void tell(const Capture& capture) const;
  // The oldest that is over of who has most of them, so that nobody pushes out those of others. False: none
  // is.
  bool forget_one();

  kineto::Registry& registry_;
  Host host_;
  std::string host_name_;
  Aside aside_;
  std::map<i64, Ns> late_disks_;              // by user: when his last kept a request waiting
  std::map<i64, std::unique_ptr<Job>> jobs_;  // by pid, those under way
  HeldRequests held_;
  std::set<i64> deaf_;         // pids: they may have dropped a request, and say that they are busy
  i64 last_looked_after_ = 0;  // a pid
  std::map<std::string, Capture> captures_;
  std::vector<std::string> order_;  // of captures, the oldest first
  std::vector<Listener> listeners_;
  u64 next_ = 1;
};

}  // namespace spotter::capture
