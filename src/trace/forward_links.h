// Forward links: an operator of the backward pass -> the forward one whose gradient it computes, by the
// sequence number that autograd gives each of its nodes.
#pragma once
#include <array>
#include <unordered_map>
#include <vector>

#include "trace/trace.h"

namespace spotter::trace {

// The operators of the backward pass: autograd's marks of its nodes ("autograd::engine::evaluate_function:
// ...") and operators that tell the thread of their forward one. Reads Arg::fwd_thread_id.
class BackwardOperators {
 public:
  // `trace` outlives it.
  explicit BackwardOperators(const Trace& trace);
  bool has(EventId e) const {
    return is_operator_[trace_.kind[e]] &&
           (is_mark_[trace_.name[e]] || trace_.integer(e, Arg::fwd_thread_id).value_or(0) > 0);
  }

 private:
  const Trace& trace_;
  std::array<u8, 256> is_operator_;  // per kind
  std::vector<u8> is_mark_;          // per name
};

// The forward operator of a node is the last one to begin, before any operator of the backward pass that has
// its number, that has the number, too: operators that make no node have the number of the next one, also
// those that run behind the backward pass. Reads kForwardLinkArgs.
class ForwardLinks {
 public:
  // `trace` outlives it.
  explicit ForwardLinks(const Trace& trace);

  const BackwardOperators& backward() const { return backward_; }
  // The sequence number of an operator; -1: none.
  i64 node(EventId e) const;
  // The forward operator of a node, or kNone.
  EventId forward(i64 node) const;

 private:
  struct Node {
    Ns backward;  // when its first operator of the backward pass begins
    EventId forward = kNone;
  };
  const Trace& trace_;
  const BackwardOperators backward_;
  std::unordered_map<i64, Node> nodes_;  // by number
};

inline const ArgSet kForwardLinkArgs = {Arg::sequence_number, Arg::fwd_thread_id};

}  // namespace spotter::trace
