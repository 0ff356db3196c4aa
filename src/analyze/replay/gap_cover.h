// GapCover: what the host did where it launched nothing, as far as it was recorded.
#pragma once
#include <span>
#include <vector>

#include "analyze/time/intervals.h"
#include "trace/nesting.h"
#include "trace/trace.h"

namespace spotter::analyze {

class GapCover {
 public:
  // `tracks`: the threads that count, ascending.
  GapCover(const Trace& trace, std::span<const u32> tracks);

  // In how much of [begin, end) one of the threads was in an operator or a call of the runtime.
  Ns covered(Ns begin, Ns end) const;
  // The innermost span in the middle of [begin, end) that covers at least half of it, on the thread of `next`
  // (kNone: of any); 0: there is none.
  StringId name_in(Ns begin, Ns end, EventId next) const;
  // The innermost operator or annotation around a call; the call's own name where there is none.
  StringId around(EventId call) const;

 private:
  const trace::Nesting::Thread* thread_of(EventId e) const;
  bool names(u32 place) const;

  const Trace& trace_;
  const trace::Nesting& nesting_;
  std::vector<const trace::Nesting::Thread*> threads_;
  Union covered_;
  std::vector<Ns> before_;  // per interval: covered before it
};

}  // namespace spotter::analyze
