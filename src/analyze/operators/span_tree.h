// SpanTree: who called each span of the host, what device work it and all below it launched, and of a
// backward operator the forward one.
#pragma once
#include <algorithm>
#include <limits>
#include <vector>

#include "base/saturated.h"
#include "trace/device_work.h"
#include "trace/forward_links.h"
#include "trace/nesting.h"
#include "trace/steps.h"

namespace spotter::analyze {

inline const ArgSet kSpanTreeArgs = trace::kDeviceWorkArgs | trace::kStepArgs | trace::kForwardLinkArgs;

// Elements are those of Nesting::order.
class SpanTree {
 public:
  struct Below {  // device work of a span and all below it
    i64 kernels = 0;
    Ns device = 0, first = std::numeric_limits<Ns>::max(), last = std::numeric_limits<Ns>::min();
    void merge(const Below& o) {
      kernels += o.kernels;
      device = add_saturated(device, o.device);
      first = std::min(first, o.first);
      last = std::max(last, o.last);
    }
  };

  explicit SpanTree(const Trace& trace);

  // The innermost span around it on its thread; of the outermost ones of autograd's threads the innermost
  // span of the main thread around it, which waits for it. kNone: none.
  u32 parent(u32 i) const { return parent_[i]; }
  i64 depth(u32 i) const { return depth_[i]; }
  // Siblings that overlap may be longer than what they are in.
  Ns self(u32 i) const { return std::max<Ns>(0, self_[i]); }
  const Below& below(u32 i) const { return below_[i]; }
  // Of an operator of the backward pass the one whose gradient it computes (ForwardLinks); else kNone.
  EventId forward(u32 i) const { return forward_[i]; }

 private:
  void find_callers(const trace::Nesting::Thread& thread);
  void add_up();
  void link_forward();

  const Trace& trace_;
  const trace::Nesting& nesting_;
  trace::Nesting::Thread main_{kNone, 0, 0};
  std::vector<u32> parent_;
  std::vector<Ns> self_;
  std::vector<i64> depth_;
  std::vector<Below> below_;
  std::vector<EventId> forward_;
};

}  // namespace spotter::analyze
