// HeldRequests: what processes have been given and still have, though nobody waits for it any more. A capture
// that is ended or expires takes nothing back from libkineto: it waits for the start, warms up and records,
// and throws away what it gets meanwhile, while its polls say "idle" until the warm-up. One thread.
#pragma once
#include <map>
#include <string>

#include "base/time.h"
#include "base/types.h"

namespace spotter::capture {

struct HeldRequest {
  std::string capture;
  Ns end = 0;             // steady time at which its trace is over
  bool was_busy = false;  // the process has said so since it got the request
};

class HeldRequests {
 public:
  static constexpr Ns kWriting = 15 * kSecond;  // after the end, for one who says that he is busy

  void keep(i64 pid, HeldRequest request) { held_.insert_or_assign(pid, std::move(request)); }
  void polled(i64 pid, bool is_idle, Ns now);
  void gone(i64 pid) { held_.erase(pid); }
  // A sentence; empty: it has none.
  std::string why_busy(i64 pid, Ns now) const;

 private:
  std::map<i64, HeldRequest> held_;  // by pid
};

}  // namespace spotter::capture
