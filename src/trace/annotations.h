// Annotations: spans that a program marks by hand (record_function), and PyTorch's own marks of steps,
// optimizers and data loaders. To 2021 they had no category of their own, but were operators ("Operator"): of
// those, operators have a namespace (aten::add) or are autograd's (NllLossBackward), which tell the thread of
// their forward operator.
#pragma once
#include <array>

#include "trace/trace.h"

namespace spotter::trace {

class Annotations {
 public:
  explicit Annotations(const Trace& trace);

  // Of any era. Reads Arg::fwd_thread_id.
  bool has(EventId e) const {
    return may_be_[trace_.kind[e]] == kAlways || (may_be_[trace_.kind[e]] == kByName && is_none_of_torch(e));
  }

 private:
  enum : u8 { kNever, kAlways, kByName };
  bool is_none_of_torch(EventId e) const;

  const Trace& trace_;
  std::array<u8, 256> may_be_;  // per kind
};

}  // namespace spotter::trace
