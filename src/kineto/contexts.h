// How many processes use a GPU for a job, as they say in `ctxt` messages. A process is who the kernel says it
// is: what it makes up takes the place of its own alone.
#pragma once
#include <compare>
#include <deque>
#include <map>

#include "base/types.h"

namespace spotter::kineto {

struct Context {
  i64 job = 0;
  i32 gpu = 0;
  auto operator<=>(const Context&) const = default;
};

class Contexts {
 public:
  static constexpr size_t kMostOfOne = 16, kMostProcesses = 8192;  // of more, the oldest go

  // `pid` is the kernel's. How many processes are in the context now, with this one.
  i64 count(i64 pid, const Context& context);
  void gone(i64 pid);
  size_t size() const { return of_.size(); }  // processes

 private:
  void leave(const Context& context);

  std::map<i64, std::deque<Context>> of_;  // by pid
  std::deque<i64> order_;                  // of pids, the oldest first; some may have gone
  std::map<Context, i64> counts_;
};

}  // namespace spotter::kineto
