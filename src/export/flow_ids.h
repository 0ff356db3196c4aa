// The ids of flows and other things that span events, of several ranks in one file: those of one rank stay
// different and are different from all others. They are numbers below 2^53, so that every reader of JSON
// takes them, for 8192 ranks.
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/types.h"

namespace spotter::export_ {

inline constexpr int kFlowIdBits = 40;  // for each rank
inline constexpr u64 kNamedFlowIds = u64{1} << 38, kExtraFlowIds = u64{3} << 38;

class FlowIds {
 public:
  explicit FlowIds(u64 rank) : first_(rank << kFlowIdBits) {}
  u64 of(std::string_view raw);                                  // the value of "id" as JSON
  u64 extra(u64 n) const { return first_ + kExtraFlowIds + n; }  // of what is added to the trace

 private:
  u64 first_;
  std::unordered_map<std::string, u64> named_;  // what is no number, or a large one
};

}  // namespace spotter::export_
